import { z } from 'zod'
import { changeSignedInCustomer } from '@tollgate/domain/customer-auth/change-signed-in-customer'
import {
  createOrLinkCustomer,
  type CreateOrLinkOutcome,
} from '@tollgate/domain/customers/create-or-link-customer'
import type { CustomerChange } from '@tollgate/domain/customers/change-customer'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { CustomerName } from '@tollgate/domain/customers/customer-name'
import type { Customer } from '@tollgate/domain/customers/repository'
import { hasTestClocks } from '@tollgate/domain/test-clocks/customer-time'
import { testClockCustomersMax } from '@tollgate/schemas/limits'
import {
  customerCreateSchema,
  customerDeleteSchema,
  customerQuerySchema,
  customerSchema,
  customerUpdateSchema,
  type CustomerBody,
  type CustomerCreateInput,
  type CustomerQuery,
  type CustomerUpdateInput,
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
import { customerToHttp } from '../translate/customer.ts'
import { knownLocale } from '../../pages/texts/languages.ts'
import { accessFilter, loadCustomerPurchases } from '../../purchases/load-purchases.ts'
import {
  briefPurchasesOf,
  presentBriefPurchases,
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
      const found = await findCustomerBody(parts, caller, nameOf(request.query))
      if (found === undefined) throw refusals.customerQueryNotFound()
      return found
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
      const outcome = await createOrLink(parts, operationOf(request, parts.clock), body)
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
      const found = await findCustomerBody(parts, caller, { anyReference: reference })
      if (found === undefined) throw refusals.customerNotFound(reference)
      return found
    },
  )

  app.patch(
    '/v1/sdk/customers/:reference',
    { schema: { tags, params, body: customerUpdateSchema, response: { 200: customerSchema } } },
    async (request) => {
      const { reference } = request.params
      const { body } = request
      const outcome = await commit(parts, operationOf(request, parts.clock), (work) =>
        changeSignedInCustomer(work, reference, changeOf(body)),
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

/** A missing language is unchanged. One without texts is stored as none. */
function changeOf({ locale, ...change }: CustomerUpdateInput): CustomerChange {
  return { ...change, locale: locale === undefined ? undefined : knownLocale(locale) }
}

/** Existing clients expect a special text for an invalid email address. */
function explainInvalidEmail(error: Error): Error {
  const isEmailAlone =
    error instanceof InvalidRequestError &&
    error.issues.every(({ code, path }) => path[0] === 'email' && code === 'invalid_format')
  return isEmailAlone ? refusals.invalidEmail() : error
}

function createOrLink(
  parts: Parts,
  operation: Operation,
  body: CustomerCreateInput,
): Promise<CreateOrLinkOutcome> {
  if (body.testClock !== undefined && !hasTestClocks(operation.environment)) {
    throw refusals.sandboxOnly()
  }
  return commit(parts, operation, (work) =>
    createOrLinkCustomer(work, {
      email: body.email,
      name: body.name ?? null,
      telephone: body.telephone ?? null,
      externalRef: body.externalRef ?? null,
      locale: knownLocale(body.locale),
      metadata: body.metadata ?? {},
      testClockRef: body.testClock ?? null,
    }),
  )
}

function requireLinkedCustomer(
  outcome: CreateOrLinkOutcome,
  { email, externalRef, testClock }: CustomerCreateInput,
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
    case 'clock-not-found':
      throw refusals.testClockNotFound(testClock ?? '')
    case 'clock-full':
      throw refusals.testClockFull(testClock ?? '', testClockCustomersMax)
    case 'on-other-clock':
      throw refusals.customerOnOtherClock()
  }
}

async function findCustomerBody(
  parts: Parts,
  caller: Caller,
  name: CustomerName,
): Promise<CustomerBody | undefined> {
  const found = await read(parts, caller, (sql) =>
    loadCustomerPurchases(parts, sql, caller, name, accessFilter),
  )
  if (found === undefined) return undefined
  const purchases = await presentBriefPurchases(parts, caller, found.loaded)
  return customerToHttp(found.customer, purchases)
}

/** Returns the name in the query. Refuses an ambiguous query. */
function nameOf(query: CustomerQuery): CustomerName {
  const given = Object.values(query).filter((value) => value !== undefined && value !== '')
  if (given.length !== 1) throw refusals.customerQueryAmbiguous()
  return query.email
    ? { email: query.email }
    : { anyReference: query.reference || query.externalRef || '' }
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
