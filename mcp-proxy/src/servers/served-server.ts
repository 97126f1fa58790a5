import type { ToolAccess } from '@tollgate/domain/catalog/tool'
import type { CancelledCalls } from '@tollgate/schemas/http/mcp'
import type { Environment } from '@tollgate/schemas/environment'

/** An MCP server as the proxy serves it: what a provider has configured, with its credentials opened. */
export type ServedServer = {
  readonly environment: Environment
  readonly providerId: string
  readonly productRef: string
  readonly productName: string
  readonly reference: string
  readonly subdomain: string
  /** Its address for clients, and the audience of their access tokens. */
  readonly proxyUrl: string
  readonly issuer: string
  readonly originUrl: string
  /** What the origin wants to see. Never shown, logged or sent anywhere else. */
  readonly originHeaders: Readonly<Record<string, string>>
  /** By name. A tool that is not among them was added since the origin was last asked. */
  readonly tools: ReadonlyMap<string, ServedTool>
  /** The plan that is allowed every protected tool but those that are reserved for others. */
  readonly defaultPlanRef: string | undefined
  /** All plans of the product, also those that nobody can buy any more. */
  readonly plans: readonly ServedPlan[]
}

/** What a customer is shown of a plan. */
export type ServedPlan = {
  readonly reference: string
  readonly name: string
  readonly type: string
  /** Minor units of the currency. */
  readonly price: number
  readonly currency: string
  readonly billingCycle?: string
  /** Calls in a period; undefined if the plan has no cap of its own. */
  readonly units?: number
  readonly isOffered: boolean
}

export type ServedTool = {
  readonly access: ToolAccess
  /** Empty unless `access` is 'plans'. */
  readonly planRefs: readonly string[]
  /** Whether the default plan does not open the tool. */
  readonly onlyListedPlans?: boolean
  /** Absent: as the proxy is configured. */
  readonly cancelledCalls?: CancelledCalls
  /** The MCP server did not list the tool when it was last asked. */
  readonly hasVanished?: boolean
}
