/** The allowance that the first period of a purchase shares with the purchases before it. */
export type SharedAllowance = {
  /**
   * Counter window of the purchase that started the allowance. All purchases that share the allowance are counted
   * there.
   */
  readonly window: string
  /** Usage from this instant on counts against the allowance. */
  readonly since: Date
  /** A purchase that starts at this instant or later starts its own allowance. */
  readonly until: Date
}
