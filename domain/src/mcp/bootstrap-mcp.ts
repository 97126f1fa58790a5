import type { McpPlanInput, McpToolInput } from '@tollgate/schemas/http/mcp'
import { listPlans } from '../catalog/plans-repository.ts'
import { createProduct, type NewProduct } from '../catalog/create-product.ts'
import type { Product } from '../catalog/products-repository.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { applyPlans, planNames } from './apply-plans.ts'
import { soleFreePlan } from './decide-plans.ts'
import { declareTools } from './decide-tools.ts'
import type { McpRefusal } from './refusal.ts'
import {
  insertMcpServer,
  saveTools,
  type McpServer,
  type OriginAuth,
} from '../catalog/mcp-servers-repository.ts'
import { withRandomSuffix, slugOf } from './subdomain.ts'
import { ensureToolMeters } from '../catalog/tool-meters.ts'

export type NewMcpProduct = {
  readonly product: NewProduct
  readonly originUrl: string
  readonly auth: OriginAuth | undefined
  /** Undefined to derive it from the product's name. */
  readonly mcpDomain: string | undefined
  /** Undefined for a free plan only. */
  readonly plans: readonly McpPlanInput[] | undefined
  /** Undefined for all tools that the MCP server turns out to have, available in every plan. */
  readonly tools: readonly McpToolInput[] | undefined
  readonly defaultPlanKey: string | undefined
  /** The provider's default currency. */
  readonly defaultCurrency: string
}

export type BootstrapOutcome =
  { readonly kind: 'created'; readonly product: Product; readonly server: McpServer } | McpRefusal

/**
 * Creates a product with its plans, its MCP server and its tools. If the outcome is a refusal, the caller must roll the
 * transaction back, so that nothing of the product is stored.
 */
export async function bootstrapMcp(
  work: UnitOfWork,
  fields: NewMcpProduct,
): Promise<BootstrapOutcome> {
  const { sql, providerId, now } = work
  const product = await createProduct(work, fields.product)
  const productRef = product.reference
  const server = await addServer(work, fields.mcpDomain ?? product.name, {
    productRef,
    originUrl: fields.originUrl,
    auth: fields.auth,
    isAutoMapped: fields.tools === undefined,
  })
  const inputs = fields.plans ?? [soleFreePlan(fields.defaultCurrency)]
  const request = { inputs, defaultPlanKey: fields.defaultPlanKey }
  const refused = await applyPlans(work, productRef, request, fields.defaultCurrency)
  if (refused !== undefined) return refused
  const names = planNames(await listPlans(sql, providerId, [productRef]))
  const decision = declareTools(fields.tools ?? [], names)
  if (decision.kind === 'refused') return decision
  await ensureToolMeters(work, decision.tools)
  await saveTools(sql, providerId, productRef, decision.tools, now)
  return { kind: 'created', product, server }
}

/**
 * Stores the MCP server. A subdomain that was used once stays taken. If the wanted one is taken, random suffixes are
 * tried until one is free.
 */
export async function addServer(
  work: UnitOfWork,
  wanted: string,
  fields: Pick<McpServer, 'productRef' | 'originUrl' | 'auth' | 'isAutoMapped'>,
): Promise<McpServer> {
  const slug = slugOf(wanted)
  const rest = {
    reference: generateReference('mcpServer'),
    createdAt: work.now,
    updatedAt: work.now,
  }
  for (let subdomain = slug; ; subdomain = withRandomSuffix(slug)) {
    const server = { ...fields, ...rest, subdomain }
    if (await insertMcpServer(work.sql, work.providerId, server)) return server
  }
}
