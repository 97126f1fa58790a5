/** A customer has as many hosted pages open as the configuration allows. */
export class TooManySessionsError extends Error {
  override readonly name = 'TooManySessionsError'
  /** Milliseconds until the first of them expires. */
  readonly waitMs: number

  constructor(waitMs: number) {
    super('too many hosted pages of one customer are open')
    this.waitMs = waitMs
  }
}
