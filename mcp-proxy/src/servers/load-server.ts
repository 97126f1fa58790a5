import { fallbackPlan } from '@tollgate/domain/mcp/decide-plans'
import { proxyAddressOf } from '@tollgate/domain/mcp/proxy-address'
import {
  findMcpServerBySubdomain,
  listTools,
  originAuthPlace,
  type OriginAuth,
} from '@tollgate/domain/catalog/mcp-servers-repository'
import type { Tool } from '@tollgate/domain/catalog/tool'
import type { Plan } from '@tollgate/domain/plans/plan'
import { isOffered } from '@tollgate/domain/catalog/plan-offer'
import { listPlans } from '@tollgate/domain/catalog/plans-repository'
import type { Queryable } from '@tollgate/platform/database/database'
import type { Secrets } from '@tollgate/platform/secrets/open-secrets'
import type { Environment } from '@tollgate/schemas/environment'
import type { ServedPlan, ServedServer, ServedTool } from './served-server.ts'

type Place = {
  readonly environment: Environment
  /** URL template of the environment, which contains `{subdomain}`. */
  readonly template: string
  readonly subdomain: string
}

/** Reads the current configuration of a server. Returns undefined if no product has the subdomain. */
export async function loadServer(
  sql: Queryable,
  secrets: Pick<Secrets, 'open'>,
  { environment, template, subdomain }: Place,
): Promise<ServedServer | undefined> {
  const found = await findMcpServerBySubdomain(sql, subdomain)
  if (found === undefined) return undefined
  const { providerId, productName, server } = found
  const { productRef, reference, originUrl, auth } = server
  const [tools, plans] = await Promise.all([
    listTools(sql, providerId, productRef),
    listPlans(sql, providerId, [productRef]),
  ])
  const { proxyUrl, issuer } = proxyAddressOf(template, subdomain)
  return {
    environment,
    providerId,
    productRef,
    productName,
    reference,
    subdomain,
    proxyUrl,
    issuer,
    originUrl,
    originHeaders: openHeaders(secrets, providerId, auth),
    tools: servedToolsOf(tools),
    defaultPlanRef: fallbackPlan(plans)?.reference,
    plans: plans.map(servedPlan),
  }
}

/**
 * Returns the tools by name, including tools that the MCP server no longer lists. The server may still answer their calls or list
 * them again, and they must not become open to more plans than the provider configured.
 */
export function servedToolsOf(tools: readonly Tool[]): ReadonlyMap<string, ServedTool> {
  return new Map(tools.map((tool) => [tool.name, servedToolOf(tool)]))
}

function servedToolOf(tool: Tool): ServedTool {
  const { access, planRefs, onlyListedPlans, cancelledCalls, hasVanished } = tool
  return {
    ...{ access, planRefs, onlyListedPlans },
    ...(cancelledCalls !== null && { cancelledCalls }),
    ...(hasVanished && { hasVanished }),
  }
}

function servedPlan(plan: Plan): ServedPlan {
  const { reference, name, type, priceMinor: price, currency } = plan
  const { billingCycle, limit = 0 } = plan.terms
  return {
    ...{ reference, name, type, price, currency, isOffered: isOffered(plan) },
    ...(billingCycle === undefined ? {} : { billingCycle }),
    ...(limit > 0 ? { units: limit } : {}),
  }
}

function openHeaders(
  secrets: Pick<Secrets, 'open'>,
  providerId: string,
  auth: OriginAuth | undefined,
): Readonly<Record<string, string>> {
  if (auth === undefined) return {}
  const value = secrets.open(auth.sealedValue, originAuthPlace(providerId))
  return { [auth.header.toLowerCase()]: value }
}
