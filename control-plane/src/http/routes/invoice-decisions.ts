import { z } from 'zod'
import type { CustomerClosingParts } from '../../customers/close-customer.ts'
import { chargeNow } from '@tollgate/domain/closing/bill-now'
import { decideOnInvoice } from '@tollgate/domain/invoice-decisions/decide-on-invoice'
import type {
  DecisionRefusal,
  DecisionRequest,
  InvoiceChange,
  InvoiceDecision,
} from '@tollgate/domain/invoice-decisions/invoice-decision'
import { findInvoice } from '@tollgate/domain/invoices/repository'
import { dueMinor } from '@tollgate/domain/invoices/transitions'
import { sendRefund } from '@tollgate/domain/settlement/send-refund'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import { requiredReference } from '@tollgate/schemas/http/fields'
import {
  changeDueDateSchema,
  creditInvoiceSchema,
  giveUpInvoiceSchema,
  invoiceChargedSchema,
  invoiceSchema,
  payInvoiceOutsideSchema,
  refundInvoiceSchema,
  type InvoiceBody,
  type InvoiceCharged,
} from '@tollgate/schemas/http/invoices'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { operationOf } from '../../access/caller.ts'
import { commit } from '../../access/commit.ts'
import { read } from '../../access/read.ts'
import { billNowPartsOf } from '../../access/bill-now-parts.ts'
import { readInvoiceBody } from './invoices.ts'

type Parts = Pick<CustomerClosingParts, 'database' | 'clock' | 'payments'> &
  Parameters<typeof commit>[0]

const tags = ['Invoices']
const params = z.object({ invoiceRef: requiredReference })

const path = '/v1/ui/invoices/:invoiceRef'

/** Registers the routes by which a person decides about an issued invoice. */
export function registerInvoiceDecisionRoutes(app: ApiServer, parts: Parts): void {
  const response = { 200: invoiceSchema }

  app.post(
    `${path}/credit-notes`,
    { schema: { tags, params, body: creditInvoiceSchema, response } },
    (request) => {
      const { reason, amount, lines } = request.body
      const change: InvoiceChange = {
        kind: 'credited',
        amountMinor: amount === undefined ? undefined : BigInt(amount),
        lines: lines?.map((each) => ({ line: each.line, amountMinor: BigInt(each.amount) })),
      }
      return decide(parts, operationOf(request, parts.clock), request.params, reason, change)
    },
  )

  app.post(
    `${path}/outside-payments`,
    { schema: { tags, params, body: payInvoiceOutsideSchema, response } },
    (request) => {
      const { reason, amount } = request.body
      const amountMinor = amount === undefined ? undefined : BigInt(amount)
      const change = { kind: 'paid_outside', amountMinor } as const
      return decide(parts, operationOf(request, parts.clock), request.params, reason, change)
    },
  )

  registerChargeRoutes(app, parts)
}

/** Decisions that need nothing but a reason, by the action that the path names. */
const plainDecisions = {
  void: 'voided',
  'write-off': 'written_off',
  hold: 'held',
  release: 'released',
} as const

/** Registers the routes that decide whether and when an invoice is charged, and that charge or refund it. */
function registerChargeRoutes(app: ApiServer, parts: Parts): void {
  const response = { 200: invoiceSchema }

  app.post(
    `${path}/due-date`,
    { schema: { tags, params, body: changeDueDateSchema, response } },
    (request) => {
      const { reason, dueAt } = request.body
      const change = { kind: 'due_date', dueAt: new Date(dueAt) } as const
      return decide(parts, operationOf(request, parts.clock), request.params, reason, change)
    },
  )

  for (const [action, kind] of Object.entries(plainDecisions)) {
    app.post(
      `${path}/${action}`,
      { schema: { tags, params, body: giveUpInvoiceSchema, response } },
      (request) => {
        const operation = operationOf(request, parts.clock)
        return decide(parts, operation, request.params, request.body.reason, { kind })
      },
    )
  }

  app.post(
    `${path}/refunds`,
    { schema: { tags, params, body: refundInvoiceSchema, response } },
    (request) =>
      refund(parts, operationOf(request, parts.clock), request.params.invoiceRef, request.body),
  )

  app.post(
    `${path}/charge`,
    { schema: { tags, params, response: { 200: invoiceChargedSchema } } },
    (request) => charge(parts, operationOf(request, parts.clock), request.params.invoiceRef),
  )
}

async function decide(
  parts: Parts,
  operation: Operation,
  { invoiceRef }: { readonly invoiceRef: string },
  reason: string,
  change: InvoiceChange,
): Promise<InvoiceBody> {
  await storeDecision(parts, operation, { invoiceRef, reason, change })
  return readInvoiceBody(parts, operation, invoiceRef)
}

async function storeDecision(
  parts: Parts,
  operation: Operation,
  request: DecisionRequest,
): Promise<InvoiceDecision> {
  const outcome = await commit(parts, operation, (work) => decideOnInvoice(work, request))
  if (outcome.kind !== 'decided') throw refusalOf(outcome, request.invoiceRef)
  return outcome.decision
}

/**
 * Refunds an invoice. A refund to the card is sent to the processor after its request is committed. If its outcome is unknown, the
 * answer shows it as pending, and a job continues it. A repeated request continues it as well.
 */
async function refund(
  parts: Parts,
  operation: Operation,
  invoiceRef: string,
  { reason, to, amount }: z.infer<typeof refundInvoiceSchema>,
): Promise<InvoiceBody> {
  const amountMinor = amount === undefined ? undefined : BigInt(amount)
  const change = { kind: 'refunded', goesTo: to, amountMinor } as const
  const { refundRef } = await storeDecision(parts, operation, { invoiceRef, reason, change })
  if (refundRef !== null) await sendRefund(parts.payments, operation, refundRef)
  const body = await readInvoiceBody(parts, operation, invoiceRef)
  const made = body.refunds.find(({ reference }) => reference === refundRef)
  if (made?.status === 'refused') throw refusals.refundRefused(invoiceRef)
  return body
}

function refusalOf(refused: DecisionRefusal, invoiceRef: string): Error {
  switch (refused.kind) {
    case 'not-found':
      return refusals.invoiceNotFound(invoiceRef)
    case 'key-reused':
      return refusals.idempotencyKeyReused()
    case 'customer-deleted':
      return refusals.invoiceCustomerDeleted(invoiceRef)
    case 'impossible':
      return refusals.invoiceNotChangeable(invoiceRef, refused.status)
    case 'starts-period':
      return refusals.invoiceStartsPeriod(invoiceRef, refused.purchaseRef)
    case 'sold-credits':
      return refusals.invoiceSoldCredits(invoiceRef)
    case 'amount':
      return refusals.invoiceAmountTooLarge(refused.leftMinor)
    case 'line':
      return refusals.invoiceLineAmountTooLarge(refused.line, refused.leftMinor)
  }
}

/** Charges the saved card now. Repeating the request is safe, because an invoice has one payment, which succeeds at most once. */
async function charge(
  parts: Parts,
  operation: Operation,
  invoiceRef: string,
): Promise<InvoiceCharged> {
  const { providerId, environment } = operation
  const invoice = await read(parts, operation, (sql) => findInvoice(sql, providerId, invoiceRef))
  if (invoice === undefined) throw refusals.invoiceNotFound(invoiceRef)
  const result =
    invoice.status !== 'open' || dueMinor(invoice) <= 0n
      ? ('nothing_due' as const)
      : await chargeNow(billNowPartsOf(parts.payments, environment), operation, invoice)
  return { result: result ?? 'paid', invoice: await readInvoiceBody(parts, operation, invoiceRef) }
}
