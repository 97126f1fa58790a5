import { createLink } from '@tollgate/domain/customer-auth/links'
import {
  agentClientCreateSchema,
  agentClientSchema,
  customerLinkCreateSchema,
  customerLinkSchema,
} from '@tollgate/schemas/http/customer-auth'
import { createAgentClient } from '../../customer-auth/agent-clients.ts'
import type { CustomerAuth } from '../../customer-auth/customer-auth.ts'
import { refusals } from '../../errors.ts'
import { connectPath } from '../../pages/sign-in/connect-routes.tsx'
import type { ApiServer } from '../../access/api-server.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { operationOf } from '../../access/caller.ts'
import { requireCustomer, requireProduct } from '../../access/require.ts'

const tags = ['Customer sign-in']

/** Registers the routes that create links and clients for a customer of the caller. */
export function registerCustomerLinkRoutes(
  app: ApiServer,
  parts: ChangeParts & { readonly hostedUrl: string },
  auth: CustomerAuth,
): void {
  app.post(
    '/v1/customer/auth/links',
    {
      schema: { tags, body: customerLinkCreateSchema, response: { 201: customerLinkSchema } },
    },
    async (request, reply) => {
      const operation = operationOf(request, parts.clock)
      const { body } = request
      const customer = await requireCustomer(parts, operation, body.customerRef)
      const product = await requireProduct(parts, operation, body.productRef)
      const link = {
        customerRef: customer.reference,
        productRef: product.reference,
        purpose: body.purpose,
        planRef: body.planRef || null,
      }
      const lifetimeMs = auth.config.customerLinkMinutes * 60_000
      const expiresAt = new Date(operation.now.getTime() + lifetimeMs)
      const id = await commit(parts, operation, (work) => createLink(work, link, expiresAt))
      const url = `${parts.hostedUrl}${connectPath}/${id}`
      return reply.code(201).send({ url, expiresAt: expiresAt.toISOString() })
    },
  )

  app.post(
    '/v1/customer/auth/clients',
    {
      schema: { tags, body: agentClientCreateSchema, response: { 201: agentClientSchema } },
    },
    async (request, reply) => {
      const operation = operationOf(request, parts.clock)
      const { customerRef, productRef, name } = request.body
      const customer = await requireCustomer(parts, operation, customerRef)
      await requireProduct(parts, operation, productRef)
      const issuer = await auth.issuers.findOfProduct(productRef)
      if (issuer === undefined)
        throw refusals.mcp('NOT_MCP_PRODUCT', `Product ${productRef} is not an MCP product`)
      const client = await commit(parts, operation, (work) =>
        createAgentClient(work, issuer, customer.reference, name),
      )
      return reply.code(201).send(client)
    },
  )
}
