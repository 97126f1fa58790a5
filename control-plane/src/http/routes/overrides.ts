import { z } from 'zod'
import { noOverrides, type Overrides } from '@tollgate/domain/overrides/overrides'
import { findOverrides } from '@tollgate/domain/overrides/repository'
import { requiredReference } from '@tollgate/schemas/http/fields'
import {
  overridesDeletedSchema,
  overridesResponseSchema,
  overridesUpdateSchema,
} from '@tollgate/schemas/http/overrides'
import type { FastifyRequest } from 'fastify'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, operationOf } from '../../access/caller.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { read } from '../../access/read.ts'
import { requireCustomer, requireProduct } from '../../access/require.ts'
import { overrideAndCheck } from '../../alerts/override-and-check.ts'
import { InvalidRequestError, refusals } from '../../errors.ts'
import { overridesToHttp } from '../../purchases/translate-overrides.ts'

const path = '/v1/ui/customers/:reference/products/:productRef/overrides'
const params = z.object({ reference: requiredReference, productRef: requiredReference })
const tags = ['Customers']

/** Registers the routes of the terms that one customer has instead of those of a product's plans. */
export function registerOverrideRoutes(app: ApiServer, parts: ChangeParts): void {
  app.get(
    path,
    { schema: { tags, params, response: { 200: overridesResponseSchema } } },
    async (request) => {
      const caller = callerOf(request)
      const customer = await requireCustomer(parts, caller, request.params.reference)
      const product = await requireProduct(parts, caller, request.params.productRef)
      const names = { customerRef: customer.reference, productRef: product.reference }
      const history = await read(parts, caller, (sql) =>
        findOverrides(sql, caller.providerId, names.customerRef, names.productRef),
      )
      return { ...names, ...overridesToHttp(history.at(-1)) }
    },
  )

  app.put(
    path,
    {
      schema: {
        tags,
        params,
        body: overridesUpdateSchema,
        response: { 200: overridesResponseSchema },
      },
    },
    (request) => change(parts, request, request.params, request.body),
  )

  app.delete(
    path,
    { schema: { tags, params, response: { 200: overridesDeletedSchema } } },
    async (request) => {
      await change(parts, request, request.params, noOverrides)
      return { success: true as const }
    },
  )
}

async function change(
  parts: ChangeParts,
  request: FastifyRequest,
  { reference, productRef }: z.infer<typeof params>,
  overrides: Overrides,
) {
  const operation = operationOf(request, parts.clock)
  const customer = await requireCustomer(parts, operation, reference)
  const product = await requireProduct(parts, operation, productRef)
  const names = { customerRef: customer.reference, productRef: product.reference }
  const outcome = await commit(parts, operation, (work) => overrideAndCheck(work, names, overrides))
  switch (outcome.kind) {
    case 'changed':
      return { ...names, ...overridesToHttp(outcome.current) }
    case 'customer-not-found':
      throw refusals.customerNotFound(reference)
    case 'invalid':
      throw new InvalidRequestError(outcome.issues)
    case 'too-many-changes':
      throw refusals.tooManyOverrideChanges()
  }
}
