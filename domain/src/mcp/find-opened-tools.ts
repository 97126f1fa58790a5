import { requiresPayment, type Plan } from '../plans/plan.ts'
import { fallbackPlan } from './decide-plans.ts'
import type { Tool } from '../catalog/tool.ts'

export type OpenedTools = {
  readonly defaultPlan: Plan
  /** Names of the tools. */
  readonly tools: readonly string[]
}

/**
 * Returns the tools that the default plan includes although only other, paid plans are listed for them. Returns
 * undefined if there are none. Providers who list a paid plan often mean that plan only.
 */
export function findOpenedTools(
  tools: readonly Tool[],
  plans: readonly Plan[],
): OpenedTools | undefined {
  const defaultPlan = fallbackPlan(plans)
  if (defaultPlan === undefined) return undefined
  const current = plans.filter(({ status }) => status !== 'archived')
  const paid = new Set(current.filter(requiresPayment).map(({ reference }) => reference))
  const isOpened = ({ access, planRefs, onlyListedPlans, hasVanished }: Tool): boolean => {
    if (access !== 'plans' || onlyListedPlans || hasVanished) return false
    const isPaidAlone = planRefs.length > 0 && planRefs.every((ref) => paid.has(ref))
    return isPaidAlone && !planRefs.includes(defaultPlan.reference)
  }
  const opened = tools.filter(isOpened).map(({ name }) => name)
  return opened.length === 0 ? undefined : { defaultPlan, tools: opened }
}
