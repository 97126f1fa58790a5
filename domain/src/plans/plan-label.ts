import type { PlanType } from './plan.ts'

/**
 * Returns the type of a plan by its cycle and its meter. It is only a default, because an explicit type takes precedence: post-paid
 * usage-based plans have a cycle too.
 */
export function planLabel(plan: {
  readonly hasCycle: boolean
  readonly isMetered: boolean
}): PlanType {
  if (plan.hasCycle) return plan.isMetered ? 'hybrid' : 'recurring'
  return plan.isMetered ? 'usage-based' : 'one-time'
}
