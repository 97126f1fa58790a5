import { isCreditBased } from '../plans/plan.ts'
import type { Purchase } from './repository.ts'

/**
 * Returns whether another payment for the plan would buy nothing. A trial and a past due purchase can be paid, a plan that does not
 * renew can be bought again, and a credit plan accepts more credits.
 */
export function isPaidFor({ status, planSnapshot }: Purchase): boolean {
  if (planSnapshot === null || status !== 'active') return false
  return planSnapshot.type !== 'one-time' && !isCreditBased(planSnapshot)
}
