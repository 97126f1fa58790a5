import { isCreditBased } from '../plans/plan.ts'
import type { Purchase } from './repository.ts'

/**
 * Whether paying for the plan once more would give nothing. A trial, and what is behind with its payments, waits for
 * money; what does not renew can be had again; a plan that is paid by credits takes more of them.
 */
export function isPaidFor({ status, planSnapshot }: Purchase): boolean {
  if (planSnapshot === null || status !== 'active') return false
  return planSnapshot.type !== 'one-time' && !isCreditBased(planSnapshot)
}
