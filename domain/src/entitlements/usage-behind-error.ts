/** The counters or the stored usage are too far behind the log to give a correct answer now. */
export class UsageBehindError extends Error {
  override readonly name: string = 'UsageBehindError'
  readonly recordsBehind: number

  constructor(recordsBehind: number) {
    super(`Usage is known up to ${recordsBehind} records before the end of the log`)
    this.recordsBehind = recordsBehind
  }
}

/** The log's tail could not be folded within its time or memory limit. The caller should retry later. */
export class TailBusyError extends UsageBehindError {
  override readonly name: string = 'TailBusyError'
}
