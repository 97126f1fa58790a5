/** The allowance that the first period of a purchase shares with the purchases before it. */
export type SharedAllowance = {
  /** The counter window of the purchase that started the allowance. All purchases that share it count there. */
  readonly window: string
  /** Usage since then counts against the allowance. */
  readonly since: Date
  /** A purchase that starts at this instant or later starts an allowance of its own. */
  readonly until: Date
}
