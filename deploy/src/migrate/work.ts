/** What a step of the move is given beside its stores. */
export type Work = {
  /** Aborted when a person wants to stop: then a step throws, between two of its effects. */
  readonly signal: AbortSignal
  /** So much more is to be done. */
  expect(amount: number): void
  /** So much more is done. */
  advance(amount: number): void
}
