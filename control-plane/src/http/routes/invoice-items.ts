import { z } from 'zod'
import { addItem } from '@tollgate/domain/invoice-decisions/add-item'
import { issueOneOff } from '@tollgate/domain/invoice-decisions/issue-one-off'
import type { RequestedLine } from '@tollgate/domain/invoice-decisions/requested-line'
import {
  listPendingItems,
  removeItem,
  type InvoiceItem,
} from '@tollgate/domain/invoices/items-repository'
import { priceLine } from '@tollgate/domain/pricing/price-line'
import { requiredReference } from '@tollgate/schemas/http/fields'
import {
  addInvoiceItemSchema,
  invoiceItemSchema,
  invoiceItemsSchema,
  invoiceSchema,
  issueInvoiceSchema,
  type InvoiceItemBody,
  type RequestedLineBody,
} from '@tollgate/schemas/http/invoices'
import { decimalFromMicros, microsFromNumber } from '@tollgate/schemas/quantity'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, operationOf } from '../../access/caller.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { read } from '../../access/read.ts'
import { requireCustomer, requireProvider } from '../../access/require.ts'
import { readInvoiceBody } from './invoices.ts'

const tags = ['Invoices']
const params = z.object({ reference: requiredReference })
const itemParams = params.extend({ itemRef: requiredReference })

/** Registers the routes that charge lines which people add: on an invoice of their own, or on the customer's next one. */
export function registerInvoiceItemRoutes(app: ApiServer, parts: ChangeParts): void {
  app.post(
    '/v1/ui/invoices',
    { schema: { tags, body: issueInvoiceSchema, response: { 201: invoiceSchema } } },
    async (request, reply) => {
      const operation = operationOf(request, parts.clock)
      const { customerRef, currency, lines, dueAt, reason } = request.body
      const customer = await requireCustomer(parts, operation, customerRef)
      const seller = await requireProvider(parts, operation)
      const wanted = {
        customerRef: customer.reference,
        currency: currency.toUpperCase(),
        lines: lines.map(lineFromHttp),
        dueAt: dueAt === undefined ? null : new Date(dueAt),
        reason,
      }
      const outcome = await commit(parts, operation, (work) => issueOneOff(work, wanted, seller))
      if (outcome.kind !== 'decided') throw refusalOf(outcome.kind, customerRef, wanted.currency)
      const body = await readInvoiceBody(parts, operation, outcome.decision.invoiceRef)
      return reply.status(201).send(body)
    },
  )

  const path = '/v1/ui/customers/:reference/invoice-items'

  app.get(
    path,
    { schema: { tags, params, response: { 200: invoiceItemsSchema } } },
    async (request) => {
      const caller = callerOf(request)
      const { reference } = await requireCustomer(parts, caller, request.params.reference)
      const items = await read(parts, caller, (sql) =>
        listPendingItems(sql, caller.providerId, reference),
      )
      return { items: items.map(itemToHttp) }
    },
  )

  app.post(
    path,
    { schema: { tags, params, body: addInvoiceItemSchema, response: { 201: invoiceItemSchema } } },
    async (request, reply) => {
      const operation = operationOf(request, parts.clock)
      const { reference: anyReference } = request.params
      const { currency: code, reason, ...line } = request.body
      const customer = await requireCustomer(parts, operation, anyReference)
      const currency = code.toUpperCase()
      const wanted = { customerRef: customer.reference, currency, line: lineFromHttp(line), reason }
      const outcome = await commit(parts, operation, (work) => addItem(work, wanted))
      if (outcome.kind !== 'added') throw refusalOf(outcome.kind, anyReference, currency)
      return reply.status(201).send(itemToHttp(outcome.item))
    },
  )

  app.delete(
    `${path}/:itemRef`,
    { schema: { tags, params: itemParams, response: { 200: invoiceItemsSchema } } },
    async (request) => {
      const operation = operationOf(request, parts.clock)
      const { reference: anyReference, itemRef } = request.params
      const customer = await requireCustomer(parts, operation, anyReference)
      const item = { customerRef: customer.reference, reference: itemRef }
      const items = await commit(parts, operation, async ({ sql, providerId, now }) => {
        if (!(await removeItem(sql, providerId, item, now))) return undefined
        return listPendingItems(sql, providerId, item.customerRef)
      })
      if (items === undefined) throw refusals.invoiceItemNotFound(itemRef)
      return { items: items.map(itemToHttp) }
    },
  )
}

/** The schema has checked that the line has an amount, or the price of one unit and a quantity. */
function lineFromHttp({
  description,
  amount,
  unitAmount,
  quantity,
}: RequestedLineBody): RequestedLine {
  return {
    description,
    unitMinor: BigInt(unitAmount ?? amount ?? 0),
    quantity: decimalFromMicros(BigInt(microsFromNumber(quantity ?? 1) ?? 0)),
  }
}

function itemToHttp({ inputs, createdAt, ...item }: InvoiceItem): InvoiceItemBody {
  const { reference, description, currency, reason, addedBy } = item
  return {
    ...{ reference, description, currency, reason, addedBy },
    unitAmount: Number(inputs.unitMinor),
    quantity: Number(inputs.quantity),
    amount: Number(priceLine(inputs).amountMinor),
    createdAt: createdAt.toISOString(),
  }
}

function refusalOf(
  kind: 'not-found' | 'key-reused' | 'no-rate',
  customerRef: string,
  currency: string,
) {
  switch (kind) {
    case 'not-found':
      return refusals.customerNotFound(customerRef)
    case 'key-reused':
      return refusals.idempotencyKeyReused()
    case 'no-rate':
      return refusals.invoiceCurrencyHasNoRate(currency)
  }
}
