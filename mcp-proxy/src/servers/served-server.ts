import type { ToolAccess } from '@tollgate/domain/catalog/tool'
import type { CancelledCalls } from '@tollgate/schemas/http/mcp'
import type { Environment } from '@tollgate/schemas/environment'

/** An MCP server as the proxy serves it: the provider's configuration with decrypted credentials. */
export type ServedServer = {
  readonly environment: Environment
  readonly providerId: string
  readonly productRef: string
  readonly productName: string
  readonly reference: string
  readonly subdomain: string
  /** URL of the server for clients, and the audience of their access tokens. */
  readonly proxyUrl: string
  readonly issuer: string
  readonly originUrl: string
  /** Credentials for the origin. They are never shown, logged or sent to any other party. */
  readonly originHeaders: Readonly<Record<string, string>>
  /** The tools by name. A tool that is missing was added to the origin after the last discovery. */
  readonly tools: ReadonlyMap<string, ServedTool>
  /** Reference of the plan that includes every protected tool, except tools reserved for other plans. */
  readonly defaultPlanRef: string | undefined
  /** All plans of the product, including those that are no longer on offer. */
  readonly plans: readonly ServedPlan[]
}

/** The data of a plan that customers see. */
export type ServedPlan = {
  readonly reference: string
  readonly name: string
  readonly type: string
  /** Price in minor units of the currency. */
  readonly price: number
  readonly currency: string
  readonly billingCycle?: string
  /** Calls included in a period, or undefined if the plan has no cap of its own. */
  readonly units?: number
  readonly isOffered: boolean
}

export type ServedTool = {
  readonly access: ToolAccess
  /** References of the plans that include the tool. Empty unless `access` is 'plans'. */
  readonly planRefs: readonly string[]
  /** Whether the default plan does not include the tool. */
  readonly onlyListedPlans?: boolean
  /** Policy for cancelled calls. If absent, the proxy's setting applies. */
  readonly cancelledCalls?: CancelledCalls
  /** Whether the MCP server did not list the tool at the last discovery. */
  readonly hasVanished?: boolean
}
