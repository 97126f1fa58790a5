import { isDeepStrictEqual } from 'node:util'
import type { McpPlanInput, ToolMappingInput } from '@tollgate/schemas/http/mcp'
import { listPlans } from '../catalog/plans-repository.ts'
import { productObject } from '../catalog/product-event.ts'
import { lockProduct, updateProduct, type Product } from '../catalog/products-repository.ts'
import { queuePublication, recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { applyPlans, planNames } from './apply-plans.ts'
import { mapTools } from './decide-tools.ts'
import { refusal, type McpRefusal } from './refusal.ts'
import {
  findMcpServer,
  listTools,
  saveTools,
  updateMcpServer,
  type McpServer,
  type OriginAuth,
} from '../catalog/mcp-servers-repository.ts'
import { ensureToolMeters } from '../catalog/tool-meters.ts'

/** Undefined fields stay unchanged. Exception: the credentials are removed if `originUrl` changes to another server. */
export type McpChange = {
  readonly originUrl: string | undefined
  /** Null removes the credentials. */
  readonly auth: OriginAuth | null | undefined
  readonly plans: readonly McpPlanInput[] | undefined
  readonly toolMapping: readonly ToolMappingInput[] | undefined
  readonly defaultPlanKey: string | undefined
  /** The provider's default currency. */
  readonly defaultCurrency: string
}

export type ConfigureOutcome =
  | { readonly kind: 'configured'; readonly product: Product; readonly server: McpServer }
  | { readonly kind: 'not-found' }
  | McpRefusal

/**
 * Applies all of the change. If the outcome is a refusal, the caller must roll the transaction back, so that nothing of
 * it is stored. Changes of one product run one after the other. If nothing differs from the current state, no event is
 * emitted.
 */
export async function configureMcp(
  work: UnitOfWork,
  productRef: string,
  change: McpChange,
): Promise<ConfigureOutcome> {
  const { sql, providerId, now } = work
  const found = await lockMcpProduct(work, productRef)
  if (found.kind !== 'found') return found
  const before = await readConfiguration(work, productRef)
  const changed = changedServer(found.server, change)
  const server = isDeepStrictEqual(changed, found.server)
    ? found.server
    : { ...changed, updatedAt: now }
  await updateMcpServer(sql, providerId, server)
  const request = { inputs: change.plans, defaultPlanKey: change.defaultPlanKey }
  const refused =
    (await applyPlans(work, productRef, request, change.defaultCurrency)) ??
    (await applyMapping(work, productRef, change.toolMapping ?? []))
  if (refused !== undefined) return refused
  if (isDeepStrictEqual(before, await readConfiguration(work, productRef))) {
    return { kind: 'configured', product: found.product, server }
  }
  const product = { ...found.product, updatedAt: now }
  await updateProduct(sql, providerId, product)
  await recordEvent(work, 'product.updated', productObject(product))
  await queuePublication(work, 'offer', productRef)
  return { kind: 'configured', product, server }
}

export type LockedMcpProduct =
  | { readonly kind: 'found'; readonly product: Product; readonly server: McpServer }
  | { readonly kind: 'not-found' }
  | McpRefusal

export async function lockMcpProduct(
  { sql, providerId }: UnitOfWork,
  productRef: string,
): Promise<LockedMcpProduct> {
  const product = await lockProduct(sql, providerId, productRef)
  if (product === undefined) return { kind: 'not-found' }
  if (!product.isMcpPay) {
    return refusal('NOT_MCP_PRODUCT', `Product ${productRef} is not an MCP product`)
  }
  const server = await findMcpServer(sql, providerId, productRef)
  if (server === undefined) {
    return refusal('NO_MCP_SERVER', `Product ${productRef} has no MCP server: bootstrap one`)
  }
  return { kind: 'found', product, server }
}

/** Reads everything that a configuration can change. */
async function readConfiguration(
  { sql, providerId }: UnitOfWork,
  productRef: string,
): Promise<unknown> {
  return {
    server: await findMcpServer(sql, providerId, productRef),
    plans: await listPlans(sql, providerId, [productRef]),
    tools: await listTools(sql, providerId, productRef),
  }
}

/** Returns the server with the change applied. Replaced credentials are not kept anywhere. */
function changedServer(server: McpServer, change: McpChange): McpServer {
  const originUrl = change.originUrl ?? server.originUrl
  return {
    ...server,
    originUrl,
    auth: change.auth === undefined ? keptAuth(server, originUrl) : (change.auth ?? undefined),
    isAutoMapped: server.isAutoMapped && change.toolMapping === undefined,
  }
}

/**
 * Keeps the credentials only if the origin stays the same. Otherwise a user who may change the URL could send the
 * credentials to a server of their own.
 */
function keptAuth({ originUrl, auth }: McpServer, newOriginUrl: string): OriginAuth | undefined {
  return new URL(originUrl).origin === new URL(newOriginUrl).origin ? auth : undefined
}

async function applyMapping(
  work: UnitOfWork,
  productRef: string,
  mapping: readonly ToolMappingInput[],
): Promise<McpRefusal | undefined> {
  if (mapping.length === 0) return undefined
  const { sql, providerId, now } = work
  const names = planNames(await listPlans(sql, providerId, [productRef]))
  const decision = mapTools(await listTools(sql, providerId, productRef), mapping, names)
  if (decision.kind === 'refused') return decision
  const named = new Set(mapping.map(({ name }) => name))
  const mapped = decision.tools.filter(({ name }) => named.has(name))
  await ensureToolMeters(work, mapped)
  await saveTools(sql, providerId, productRef, mapped, now)
  return undefined
}
