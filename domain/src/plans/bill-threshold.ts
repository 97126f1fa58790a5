import type { PlanCore } from './plan.ts'

/** Returns whether the plan bills a running period whenever its unbilled usage reaches an amount. */
export function billsWithinPeriods({ terms }: Pick<PlanCore, 'terms'>): boolean {
  return (terms.billAtUnbilledMinor ?? 0) > 0
}
