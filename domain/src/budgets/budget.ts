export type BudgetAction = 'warn' | 'stop'

/** What a customer wants to spend on the usage of a product in one billing period. */
export type Budget = {
  readonly customerRef: string
  readonly productRef: string
  readonly amountMinor: number
  readonly currency: string
  /** Stop: limit checks refuse once the usage of the period has cost the amount. */
  readonly action: BudgetAction
  readonly updatedAt: Date
}

/** What the usage of one period has cost, as it was measured last. The true cost may be higher, because usage goes on. */
export type SpendReading = {
  readonly customerRef: string
  readonly productRef: string
  readonly purchaseRef: string
  readonly periodStart: Date
  readonly periodEnd: Date
  readonly spentMinor: bigint
  readonly currency: string
  readonly measuredAt: Date
}

/** The period in which a budget refuses further usage. Half-open. */
export type BudgetStop = Pick<SpendReading, 'purchaseRef' | 'periodStart' | 'periodEnd'>

/**
 * Returns the period that the budget stops, or undefined. A stop ends with its period, with a higher budget, and with another
 * purchase. A budget in another currency than that of the purchase stops nothing, because the two cannot be compared.
 */
export function budgetStop(
  budget: Budget | undefined,
  reading: SpendReading | undefined,
): BudgetStop | undefined {
  if (budget?.action !== 'stop' || reading === undefined) return undefined
  if (budget.currency !== reading.currency) return undefined
  return reading.spentMinor >= BigInt(budget.amountMinor) ? reading : undefined
}
