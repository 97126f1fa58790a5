import type { CancelledCalls } from '@tollgate/schemas/http/mcp'

/**
 * Who may call a tool: anybody, uncounted; whoever holds a plan of the product; holders of the plans listed and, unless the tool
 * is reserved for those, of the default plan.
 */
export type ToolAccess = 'public' | 'every-plan' | 'plans'

export type Tool = {
  readonly name: string
  readonly description: string | null
  readonly access: ToolAccess
  /** Empty unless `access` is 'plans'. */
  readonly planRefs: readonly string[]
  /** Whether the default plan does not open the tool. Means nothing unless `access` is 'plans'. */
  readonly onlyListedPlans: boolean
  /** Null: as the proxy is configured. */
  readonly cancelledCalls: CancelledCalls | null
  /** The origin had it once. */
  readonly hasVanished: boolean
}
