import { fallbackPlan, plansByKey } from '@tollgate/domain/mcp/decide-plans'
import type { Tool } from '@tollgate/domain/catalog/tool'
import type { Reconciled } from '@tollgate/domain/mcp/decide-tools'
import { findOpenedTools } from '@tollgate/domain/mcp/find-opened-tools'
import type { McpServer, ToolChange } from '@tollgate/domain/catalog/mcp-servers-repository'
import type { Plan } from '@tollgate/domain/plans/plan'
import type {
  KnownToolBody,
  McpBootstrappedBody,
  McpConfiguredBody,
  McpDiscoveredBody,
  McpServerBody,
  McpWarningBody,
} from '@tollgate/schemas/http/mcp'
import type { ProductBody } from '@tollgate/schemas/http/products'
import type { DiscoveryOutcome } from '../../mcp/discover-tools.ts'
import { definedFields } from '../../domain/defined-fields.ts'

/**
 * Converts an MCP server. `plans` are the plans of its product. `proxyUrl` is the address template of all MCP servers and contains
 * `{subdomain}`.
 */
export function mcpServerToHttp(
  server: McpServer,
  plans: readonly Plan[],
  proxyUrl: string,
): McpServerBody {
  return {
    reference: server.reference,
    subdomain: server.subdomain,
    mcpProxyUrl: proxyUrl.replace('{subdomain}', server.subdomain),
    url: server.originUrl,
    ...definedFields({ defaultPlanRef: fallbackPlan(plans)?.reference }),
  }
}

/** Converts an MCP server to the shape that it has inside a product. */
export function productMcpToHttp(
  server: McpServer,
  plans: readonly Plan[],
  proxyUrl: string,
): ProductBody['mcp'] {
  const { reference, subdomain, url, ...rest } = mcpServerToHttp(server, plans, proxyUrl)
  return {
    ...{ mcpServerRef: reference, mcpSubdomain: subdomain, originUrl: url, ...rest },
    ...(server.lastToolChange === undefined
      ? {}
      : { lastToolChange: changeToHttp(server.lastToolChange) }),
  }
}

function changeToHttp({ at, added, removed }: ToolChange) {
  return { at: at.toISOString(), added: [...added], removed: [...removed] }
}

export function planMapToHttp(plans: readonly Plan[]): McpConfiguredBody['planMap'] {
  const named = [...plansByKey(plans)]
  return Object.fromEntries(named.map(([key, { reference, name }]) => [key, { reference, name }]))
}

/** Converts the result of the tool discovery of a bootstrap. Undefined means that the origin received no request. */
export function autoMappedToHttp(outcome: DiscoveryOutcome | undefined): AutoMapped {
  if (outcome === undefined) return { toolsAutoMapped: false }
  if (outcome.kind !== 'recorded') {
    const message =
      outcome.kind === 'failed' ? outcome.message : 'The product was changed meanwhile'
    const discovery = { status: 'failed' as const, message }
    return { toolsAutoMapped: false, autoMappedTools: [], discovery }
  }
  return {
    toolsAutoMapped: true,
    autoMappedTools: outcome.tools.map(({ name, description }) => ({
      name,
      ...definedFields({ description }),
    })),
    discovery: { status: 'found' },
  }
}

type AutoMapped = Pick<McpBootstrappedBody, 'toolsAutoMapped' | 'autoMappedTools' | 'discovery'>

export function discoveredToHttp({ tools, added, removed }: Reconciled): McpDiscoveredBody {
  return { tools: toolsToHttp(tools), added: [...added], removed: [...removed] }
}

export function toolsToHttp(tools: readonly Tool[]): KnownToolBody[] {
  const known = tools.filter(({ hasVanished }) => !hasVanished)
  return known.map(
    ({ name, description, access, planRefs, onlyListedPlans, cancelledCalls }): KnownToolBody => ({
      ...{ name, access, planRefs: [...planRefs], onlyListedPlans },
      ...definedFields({ description, cancelledCalls }),
    }),
  )
}

/** Returns warnings about settings that the provider may not have intended, or undefined if there are none. */
export function warningsToHttp(
  tools: readonly Tool[],
  plans: readonly Plan[],
): McpWarningBody[] | undefined {
  const opened = findOpenedTools(tools, plans)
  const name = opened?.defaultPlan.name
  return opened?.tools.map((tool) => ({
    code: 'default_plan_opens_tool',
    tool,
    message:
      `The tool ${tool} lists only paid plans, and is also open to the default plan ${name}. To reserve it for the plans listed, ` +
      'set `onlyListedPlans` to true.',
  }))
}
