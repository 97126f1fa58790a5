import type { PlanType } from './plan.ts'

/**
 * What a plan amounts to by its cycle and its meter. Never sent: an explicit type beats it, since post-paid
 * usage-based plans have a cycle too.
 */
export function planLabel(plan: {
  readonly hasCycle: boolean
  readonly isMetered: boolean
}): PlanType {
  if (plan.hasCycle) return plan.isMetered ? 'hybrid' : 'recurring'
  return plan.isMetered ? 'usage-based' : 'one-time'
}
