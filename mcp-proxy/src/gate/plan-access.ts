import type { ServedServer } from '../servers/served-server.ts'

/** Whether the tool may be called by everybody, without limit and uncounted. */
export function isPublic(server: ServedServer, toolName: string): boolean {
  return server.tools.get(toolName)?.access === 'public'
}

/**
 * Whether a holder of the plan may call the tool: every plan where nobody has said which, otherwise the plans that are named and
 * the server's default plan, unless the tool is reserved for the plans that are named. A tool that is not known yet is open to the
 * default plan alone.
 */
export function isOpenToPlan(server: ServedServer, toolName: string, planRef: string): boolean {
  if (planRef === '') return false
  const tool = server.tools.get(toolName)
  if (tool?.access === 'every-plan') return true
  if (planRef === server.defaultPlanRef && tool?.onlyListedPlans !== true) return true
  return tool?.planRefs.includes(planRef) ?? false
}

/** The one plan to recommend for a tool; undefined if there is a choice. */
export function solePlanOf(server: ServedServer, toolName: string): string | undefined {
  const planRefs = server.tools.get(toolName)?.planRefs ?? []
  return planRefs.length === 1 ? planRefs[0] : undefined
}
