import type { CancelledCalls } from '@tollgate/schemas/http/mcp'

/**
 * Who may call a tool. `public`: everyone, and calls are not counted. `every-plan`: customers with any plan of the
 * product. `plans`: customers with one of the listed plans and, unless the tool is reserved for those plans, with the
 * default plan.
 */
export type ToolAccess = 'public' | 'every-plan' | 'plans'

export type Tool = {
  readonly name: string
  readonly description: string | null
  readonly access: ToolAccess
  /** Empty unless `access` is 'plans'. */
  readonly planRefs: readonly string[]
  /**
   * Whether the tool is reserved for the listed plans, so that the default plan does not include it. Ignored unless
   * `access` is 'plans'.
   */
  readonly onlyListedPlans: boolean
  /** Null if the proxy's configuration applies. */
  readonly cancelledCalls: CancelledCalls | null
  /** Whether the MCP server no longer offers the tool. */
  readonly hasVanished: boolean
}
