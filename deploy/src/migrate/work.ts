/** Control and progress of a step of the move. */
export type Work = {
  /** Aborted when the operator stops the command. The step then throws between two of its effects. */
  readonly signal: AbortSignal
  /** Adds an amount to the total of the step. */
  expect(amount: number): void
  /** Adds an amount to the completed part of the step. */
  advance(amount: number): void
}
