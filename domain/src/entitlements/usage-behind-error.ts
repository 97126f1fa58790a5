/** What was counted or stored is too far behind the log to answer truthfully now. */
export class UsageBehindError extends Error {
  override readonly name: string = 'UsageBehindError'
  readonly recordsBehind: number

  constructor(recordsBehind: number) {
    super(`Usage is known up to ${recordsBehind} records before the end of the log`)
    this.recordsBehind = recordsBehind
  }
}
