import { z } from 'zod'
import { changeSignedInCustomer } from '@tollgate/domain/customer-auth/change-signed-in-customer'
import {
  createOrLinkCustomer,
  type CreateOrLinkOutcome,
} from '@tollgate/domain/customers/create-or-link-customer'
import {
  findCustomer,
  findCustomerByEmail,
  type Customer,
} from '@tollgate/domain/customers/repository'
import type { Queryable } from '@tollgate/platform/database/database'
import {
  customerCreateSchema,
  customerDeleteSchema,
  customerQuerySchema,
  customerSchema,
  customerUpdateSchema,
  type CustomerBody,
  type CustomerCreateInput,
  type CustomerQuery,
  type CustomerNotChargedBody,
  type CustomerNotSettledBody,
} from '@tollgate/schemas/http/customers'
import { deletedResponseSchema } from '@tollgate/schemas/http/plans'
import { requiredReference } from '@tollgate/schemas/http/fields'
import { closeCustomerOrRefuse, type CustomerClosingParts } from '../../customers/close-customer.ts'
import { InvalidRequestError, refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { commit } from '../../access/commit.ts'
import { callerOf, operationOf, type Caller } from '../../access/caller.ts'
import { read } from '../../access/read.ts'
import { getCustomer } from '../../access/require.ts'
import { customerToHttp } from '../translate/customer.ts'
import {
  briefPurchasesOf,
  loadPurchases,
  presentBriefPurchases,
  accessFilter,
  type PurchaseViewParts,
} from '../../purchases/present-purchases.ts'
import type { Uncharged } from '@tollgate/domain/closing/bill-now'
import type { OpenAmounts } from '@tollgate/domain/closing/open-amounts'
import { wholeCredits } from '@tollgate/domain/money/whole-credits'

type Parts = PurchaseViewParts & CustomerClosingParts

const params = z.object({ reference: requiredReference })
const tags = ['Customers']

export function registerCustomerRoutes(app: ApiServer, parts: Parts): void {
  const toBody = async (caller: Caller, customer: Customer): Promise<CustomerBody> =>
    customerToHttp(customer, await briefPurchasesOf(parts, caller, customer.reference))

  app.get(
    '/v1/sdk/customers',
    { schema: { tags, querystring: customerQuerySchema, response: { 200: customerSchema } } },
    async (request) => {
      const caller = callerOf(request)
      return presentFound(parts, caller, customerFinder(caller, request.query))
    },
  )

  app.post(
    '/v1/sdk/customers',
    {
      schema: { tags, body: customerCreateSchema, response: { 201: customerSchema } },
      attachValidation: true,
    },
    async (request, reply) => {
      if (request.validationError !== undefined) throw explainInvalidEmail(request.validationError)
      const { body } = request
      const outcome = await commit(parts, operationOf(request, parts.clock), (work) =>
        createOrLinkCustomer(work, {
          email: body.email,
          name: body.name ?? null,
          telephone: body.telephone ?? null,
          externalRef: body.externalRef ?? null,
          metadata: body.metadata ?? {},
        }),
      )
      const customer = requireLinkedCustomer(outcome, body)
      return reply.code(201).send(await toBody(callerOf(request), customer))
    },
  )

  app.get(
    '/v1/sdk/customers/:reference',
    { schema: { tags, params, response: { 200: customerSchema } } },
    async (request) => {
      const caller = callerOf(request)
      const { reference } = request.params
      return presentFound(parts, caller, (sql) => getCustomer(sql, caller, reference))
    },
  )

  app.patch(
    '/v1/sdk/customers/:reference',
    { schema: { tags, params, body: customerUpdateSchema, response: { 200: customerSchema } } },
    async (request) => {
      const { reference } = request.params
      const { body } = request
      const outcome = await commit(parts, operationOf(request, parts.clock), (work) =>
        changeSignedInCustomer(work, reference, body),
      )
      switch (outcome.kind) {
        case 'customer':
          return toBody(callerOf(request), outcome.customer)
        case 'not-found':
          throw refusals.customerNotFound(reference)
        case 'email-taken':
          throw refusals.emailTaken(body.email ?? '')
        case 'external-ref-taken':
          throw refusals.externalRefTaken(body.externalRef ?? '')
      }
    },
  )

  registerDelete(app, parts)
}

function registerDelete(app: ApiServer, parts: Parts): void {
  app.delete(
    '/v1/ui/customers/:reference',
    {
      schema: {
        tags,
        params,
        querystring: customerDeleteSchema,
        body: customerDeleteSchema.nullish(),
        response: { 200: deletedResponseSchema },
      },
    },
    async (request) => {
      const { reference } = request.params
      const settle = request.query.settle ?? request.body?.settle
      const outcome = await closeCustomerOrRefuse(
        parts,
        operationOf(request, parts.clock),
        reference,
        settle,
      )
      switch (outcome.kind) {
        case 'deleted':
          return { success: true as const }
        case 'not-found':
          throw refusals.customerNotFound(reference)
        case 'unsettled':
          throw refusals.customerNotSettled(openAmountsToHttp(outcome.open))
        case 'uncharged':
          throw refusals.customerNotCharged(unchargedToHttp(outcome.uncharged))
        case 'busy':
          throw refusals.customerBusy()
      }
    },
  )
}

/** Existing clients expect a special text for an invalid email address. */
function explainInvalidEmail(error: Error): Error {
  const isEmailAlone =
    error instanceof InvalidRequestError &&
    error.issues.every(({ code, path }) => path[0] === 'email' && code === 'invalid_format')
  return isEmailAlone ? refusals.invalidEmail() : error
}

function requireLinkedCustomer(
  outcome: CreateOrLinkOutcome,
  { email, externalRef }: CustomerCreateInput,
): Customer {
  switch (outcome.kind) {
    case 'customer':
      return outcome.customer
    case 'email-taken':
      throw refusals.emailTaken(email)
    case 'email-linked-elsewhere':
      throw refusals.emailLinkedElsewhere(email)
    case 'external-ref-taken':
      throw refusals.externalRefTaken(externalRef ?? '')
  }
}

/** Returns the customer, or throws a refusal if there is none. */
type FindCustomer = (sql: Queryable) => Promise<Customer>

async function presentFound(
  parts: Parts,
  caller: Caller,
  find: FindCustomer,
): Promise<CustomerBody> {
  const { customer, loaded } = await read(parts, caller, async (sql) => {
    const customer = await find(sql)
    const held = accessFilter(customer.reference)
    return { customer, loaded: await loadPurchases(parts, sql, caller, held) }
  })
  return customerToHttp(customer, await presentBriefPurchases(parts, caller, loaded))
}

/** Returns a function that finds the customer of the query. Refuses an ambiguous query before any read. */
function customerFinder({ providerId }: Caller, query: CustomerQuery): FindCustomer {
  const given = Object.values(query).filter((value) => value !== undefined && value !== '')
  if (given.length !== 1) throw refusals.customerQueryAmbiguous()
  return async (sql) => {
    const customer = query.email
      ? await findCustomerByEmail(sql, providerId, query.email)
      : await findCustomer(sql, providerId, query.reference || query.externalRef || '')
    if (customer === undefined) throw refusals.customerQueryNotFound()
    return customer
  }
}

function openAmountsToHttp({
  amounts,
  invoiceRefs,
  boughtMicros,
}: OpenAmounts): CustomerNotSettledBody['open'] {
  return {
    amounts: amounts.map((amount) => ({
      currency: amount.currency,
      openInvoices: Number(amount.openInvoicesMinor),
      carried: Number(amount.carriedMinor),
      unbilledUsage: Number(amount.unbilledUsageMinor),
      boughtCredits: Number(amount.boughtCreditsMinor),
    })),
    invoices: [...invoiceRefs],
    boughtCredits: wholeCredits(boughtMicros),
  }
}

function unchargedToHttp(uncharged: readonly Uncharged[]): CustomerNotChargedBody['uncharged'] {
  return uncharged.map(({ invoiceRef, amountMinor, currency, reason }) => ({
    ...(invoiceRef === null ? {} : { invoiceRef }),
    amount: Number(amountMinor),
    currency,
    reason,
  }))
}
