import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { bootstrapMcp } from '@tollgate/domain/mcp/bootstrap-mcp'
import { configureMcp, type McpChange } from '@tollgate/domain/mcp/configure-mcp'
import {
  findMcpServer,
  listTools,
  type McpServer,
} from '@tollgate/domain/catalog/mcp-servers-repository'
import { nameOfOrigin } from '@tollgate/domain/mcp/subdomain'
import { listProductTallies } from '@tollgate/domain/catalog/tallies'
import { listPlans } from '@tollgate/domain/catalog/plans-repository'
import type { Product } from '@tollgate/domain/catalog/products-repository'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import { requiredReference } from '@tollgate/schemas/http/fields'
import { unknownNamesMax, warningText, warningsHeader } from '@tollgate/schemas/http/unknown-names'
import {
  mcpBootstrapSchema,
  mcpBootstrappedSchema,
  mcpConfiguredSchema,
  mcpConfigureSchema,
  mcpDiscoveredSchema,
  type McpBootstrapInput,
  type McpConfiguredBody,
  type McpConfigureInput,
} from '@tollgate/schemas/http/mcp'
import type { McpRefusal } from '@tollgate/domain/mcp/refusal'
import type { Environment } from '@tollgate/schemas/environment'
import type { Clock } from '@tollgate/platform/clock/clock'
import { InvalidRequestError, refusals } from '../../errors.ts'
import {} from '../../refusal.ts'
import { discoverTools, type ToolDiscoveryParts } from '../../mcp/discover-tools.ts'
import { requireOrigin, sealAuth } from '../../mcp/origin-input.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { commit } from '../../access/commit.ts'
import { callerOf, operationOf, type Caller } from '../../access/caller.ts'
import { read, type ReadParts } from '../../access/read.ts'
import { requireAllowedLinks } from '../../access/require-links.ts'
import { requireProduct, requireProvider } from '../../access/require.ts'
import { productToHttp } from '../translate/product.ts'
import {
  autoMappedToHttp,
  discoveredToHttp,
  mcpServerToHttp,
  planMapToHttp,
  toolsToHttp,
  warningsToHttp,
} from '../translate/mcp.ts'

type Parts = ToolDiscoveryParts & {
  readonly clock: Clock
  readonly mcpProxyUrls: Readonly<Record<Environment, string>>
  readonly hostedUrl: string
}

const params = z.object({ productRef: requiredReference })
const tags = ['MCP']

type McpProduct = { readonly product: Product; readonly server: McpServer }

export function registerMcpRoutes(app: ApiServer, parts: Parts): void {
  app.post(
    '/v1/sdk/products/mcp/bootstrap',
    { schema: { tags, body: mcpBootstrapSchema, response: { 201: mcpBootstrappedSchema } } },
    async (request, reply) => {
      const operation = operationOf(request, parts.clock)
      const created = await bootstrap(parts, operation, request.body)
      // The product is already committed, so if the origin does not respond, the discovery can be repeated later.
      const outcome =
        request.body.tools === undefined
          ? await discoverTools(parts, operation, created.server)
          : undefined
      const configured = await presentMcp(parts, operation, created)
      addWarningHeader(reply, configured)
      return reply.code(201).send({ ...configured, ...autoMappedToHttp(outcome) })
    },
  )

  app.put(
    '/v1/sdk/products/:productRef/mcp/plans',
    { schema: { tags, params, body: mcpConfigureSchema, response: { 200: mcpConfiguredSchema } } },
    async (request, reply) => {
      const operation = operationOf(request, parts.clock)
      const product = await configure(parts, operation, request.params.productRef, request.body)
      const configured = await presentMcp(parts, operation, product)
      addWarningHeader(reply, configured)
      return configured
    },
  )

  app.post(
    '/v1/ui/products/:productRef/mcp/discover',
    {
      schema: {
        tags,
        params,
        response: { 200: mcpDiscoveredSchema },
      },
    },
    async (request) => {
      const { productRef } = request.params
      const server = await requireMcpServer(parts, callerOf(request), productRef)
      const outcome = await discoverTools(parts, operationOf(request, parts.clock), server)
      switch (outcome.kind) {
        case 'recorded':
          return discoveredToHttp(outcome)
        case 'failed':
          throw refusals.originUnusable(outcome.message)
        case 'outdated':
          throw refusals.originChanged()
        case 'not-found':
          throw refusals.productNotFound(productRef)
        case 'refused':
          throw refusals.mcp(outcome.code, outcome.message)
      }
    },
  )
}

/** Creates the MCP product. Inside the transaction, a refusal is thrown, so that the steps before it are rolled back. */
async function bootstrap(
  parts: Parts,
  operation: Operation,
  body: McpBootstrapInput,
): Promise<McpProduct> {
  requireOrigin(parts, operation, body.originUrl)
  await requireAllowedLinks(parts, operation, { imageUrl: body.imageUrl })
  const { defaultCurrency } = await requireProvider(parts, operation)
  const fields = {
    product: {
      name: body.name ?? nameOfOrigin(body.originUrl),
      description: body.description ?? null,
      imageUrl: body.imageUrl ?? null,
      productType: body.productType ?? null,
      isMcpPay: true,
      config: null,
      metadata: body.metadata ?? {},
      taxBehavior: null,
    },
    originUrl: body.originUrl,
    auth: sealAuth(parts, operation, body.authHeaderName, body.authApiKey),
    mcpDomain: body.mcpDomain,
    plans: body.plans,
    tools: body.tools,
    defaultPlanKey: body.defaultPlanKey,
    defaultCurrency,
  }
  return commit(parts, operation, async (work) => {
    const outcome = await bootstrapMcp(work, fields)
    if (outcome.kind === 'refused') throw mcpRefusalError(outcome)
    return outcome
  })
}

async function configure(
  parts: Parts,
  operation: Operation,
  productRef: string,
  body: McpConfigureInput,
): Promise<McpProduct> {
  if (body.originUrl !== undefined) requireOrigin(parts, operation, body.originUrl)
  const { authHeaderName, authApiKey, ...rest } = body
  const { defaultCurrency } = await requireProvider(parts, operation)
  const change: McpChange = {
    originUrl: rest.originUrl,
    auth: authApiKey === null ? null : sealAuth(parts, operation, authHeaderName, authApiKey),
    plans: rest.plans,
    toolMapping: rest.toolMapping,
    defaultPlanKey: rest.defaultPlanKey,
    defaultCurrency,
  }
  return commit(parts, operation, async (work) => {
    const outcome = await configureMcp(work, productRef, change)
    switch (outcome.kind) {
      case 'configured':
        return outcome
      case 'not-found':
        throw refusals.productNotFound(productRef)
      case 'refused':
        throw mcpRefusalError(outcome)
    }
  })
}

function mcpRefusalError({ code, message, issues }: McpRefusal): Error {
  return issues === undefined ? refusals.mcp(code, message) : new InvalidRequestError(issues)
}

/**
 * The body contains the warnings as text. The header contains their codes as well, because clients read the warnings of all
 * operations there.
 */
function addWarningHeader(reply: FastifyReply, { warnings = [] }: McpConfiguredBody): void {
  if (warnings.length === 0) return
  const existing = reply.getHeader(warningsHeader)
  const added = warnings.slice(0, unknownNamesMax).map(({ code, tool }) => warningText(code, tool))
  void reply.header(
    warningsHeader,
    [...(existing === undefined ? [] : [existing]), ...added].join(', '),
  )
}

async function presentMcp(
  parts: ReadParts & { readonly mcpProxyUrls: Readonly<Record<Environment, string>> },
  caller: Caller,
  { product, server }: McpProduct,
): Promise<McpConfiguredBody> {
  const { environment, providerId } = caller
  return read(parts, caller, async (sql) => {
    const { reference } = product
    const plans = await listPlans(sql, providerId, [reference])
    const tally = (await listProductTallies(sql, providerId, [reference])).get(reference)
    const tools = await listTools(sql, providerId, reference)
    const warnings = warningsToHttp(tools, plans)
    const proxyUrl = parts.mcpProxyUrls[environment]
    return {
      product: productToHttp(product, { plans, tally, server, proxyUrl }),
      mcpServer: mcpServerToHttp(server, plans, proxyUrl),
      planMap: planMapToHttp(plans),
      tools: toolsToHttp(tools),
      ...(warnings === undefined ? {} : { warnings }),
    }
  })
}

async function requireMcpServer(
  parts: ReadParts,
  caller: Caller,
  productRef: string,
): Promise<McpServer> {
  const { isMcpPay } = await requireProduct(parts, caller, productRef)
  if (!isMcpPay) {
    throw refusals.mcp('NOT_MCP_PRODUCT', `Product ${productRef} is not an MCP product`)
  }
  const server = await read(parts, caller, (sql) =>
    findMcpServer(sql, caller.providerId, productRef),
  )
  if (server === undefined) {
    throw refusals.mcp('NO_MCP_SERVER', `Product ${productRef} has no MCP server: bootstrap one`)
  }
  return server
}
