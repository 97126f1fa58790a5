/** A customer has the maximum number of open hosted pages. */
export class TooManySessionsError extends Error {
  override readonly name = 'TooManySessionsError'
  /** Milliseconds until the first of the open pages expires. */
  readonly waitMs: number

  constructor(waitMs: number) {
    super('too many hosted pages of one customer are open')
    this.waitMs = waitMs
  }
}
