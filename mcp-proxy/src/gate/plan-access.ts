import type { ServedServer } from '../servers/served-server.ts'

/** Returns whether every caller may call the tool, without a limit and without being counted. */
export function isPublic(server: ServedServer, toolName: string): boolean {
  return server.tools.get(toolName)?.access === 'public'
}

/**
 * Returns whether a customer with the plan may call the tool. If the provider has configured no plans for the tool, every plan may.
 * Otherwise the listed plans may, and also the server's default plan unless the tool is reserved for the listed plans. A tool that
 * is not known yet is open only to the default plan.
 */
export function isOpenToPlan(server: ServedServer, toolName: string, planRef: string): boolean {
  if (planRef === '') return false
  const tool = server.tools.get(toolName)
  if (tool?.access === 'every-plan') return true
  if (planRef === server.defaultPlanRef && tool?.onlyListedPlans !== true) return true
  return tool?.planRefs.includes(planRef) ?? false
}

/** Returns the plan to recommend for a tool, or undefined if more than one plan includes it. */
export function solePlanOf(server: ServedServer, toolName: string): string | undefined {
  const planRefs = server.tools.get(toolName)?.planRefs ?? []
  return planRefs.length === 1 ? planRefs[0] : undefined
}

/** Returns whether a server can be used without a token, because it has tools and all of them are public. */
export function hasOnlyPublicTools({ tools }: ServedServer): boolean {
  return tools.size > 0 && [...tools.values()].every(({ access }) => access === 'public')
}
