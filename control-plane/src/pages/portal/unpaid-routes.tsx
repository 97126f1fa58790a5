import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findCard } from '@tollgate/domain/cards/repository'
import {
  readOnSessionPayment,
  payOnSession,
  type OnSessionPayment,
} from '@tollgate/domain/charging/pay-on-session'
import { generateReturnSecret } from '@tollgate/domain/billing/returned-payment'
import { findInvoice } from '@tollgate/domain/invoices/repository'
import { requiredReference } from '@tollgate/schemas/http/fields'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { PaymentParts } from '@tollgate/domain/payments/payment-parts'
import type { ApiServer } from '../../access/api-server.ts'
import { read, type ReadParts } from '../../access/read.ts'
import type { Notice } from '../notice.tsx'
import { sendPage } from '../page.tsx'
import { ProblemError, problems } from '../problem.tsx'
import { operationOfPortal, portalOf, portalPath } from './portal.ts'
import { returnUrlOf } from './return-routes.tsx'
import { HeldPage } from './held-page.tsx'
import { readUnpaid, unpaidPath } from './unpaid-invoices.tsx'
import { UnpaidPage } from './unpaid-page.tsx'

type Parts = ReadParts & {
  readonly clock: Clock
  readonly payments: PaymentParts
  readonly hostedUrl: string
}

const params = z.object({ handle: z.string(), invoiceRef: requiredReference })
const schema = { hide: true, params }
const path = `${portalPath}/:handle/invoices/:invoiceRef/pay`

/**
 * Registers the pages on which a customer pays an invoice after the saved card could not be charged: the bank asks for
 * confirmation, or the customer enters another card.
 */
export function registerUnpaidPages(app: ApiServer, pages: Parts): void {
  app.get(path, { schema }, async (request, reply) => {
    const { tried } = request.query as { readonly tried?: unknown }
    const { invoiceRef } = request.params
    await requireInvoice(pages, request, invoiceRef)
    const operation = operationOfPortal(pages, request)
    const payment = await readOnSessionPayment(pages.payments, operation, invoiceRef)
    const { t } = portalOf(request).frame
    const declined: Notice = { tone: 'bad', text: t('portal:paymentDeclined') }
    const notice = tried === 'yes' && payment.kind === 'unpaid' ? declined : undefined
    return showUnpaidInvoice(pages, request, reply, payment, notice)
  })

  app.post(path, { schema }, async (request, reply) => {
    const portal = portalOf(request)
    const { invoiceRef } = request.params
    await requireInvoice(pages, request, invoiceRef)
    const ownPath = unpaidPath(portal, invoiceRef)
    const operation = operationOfPortal(pages, request)
    const secret = generateReturnSecret()
    await payOnSession(pages.payments, operation, invoiceRef, (intentRef) =>
      returnUrlOf(pages, operation.environment, intentRef, secret),
    )
    // The page of the payment continues: it shows the outcome, or leads to the bank.
    return reply.redirect(`${ownPath}?tried=yes`, 303)
  })
}

async function showUnpaidInvoice(
  pages: ReadParts,
  request: FastifyRequest,
  reply: FastifyReply,
  payment: OnSessionPayment,
  notice: Notice | undefined,
): Promise<FastifyReply> {
  const portal = portalOf(request)
  const { providerId } = portal.caller
  const { invoiceRef } = params.parse(request.params)
  if (payment.kind === 'paid') return reply.redirect(`${portal.path}/invoices?done=paid`, 303)
  const invoice = await requireInvoice(pages, request, invoiceRef)
  if (payment.kind === 'nothing') {
    if (invoice.status !== 'open' || !invoice.isHeld)
      return reply.redirect(`${portal.path}/invoices`, 303)
    const open = await readUnpaid(pages, portal)
    return sendPage(reply, 200, HeldPage({ portal, invoice, open }))
  }
  const found = await read(pages, portal.caller, (sql) =>
    findCard(sql, providerId, portal.customer.reference),
  )
  const card = found?.reusable === true ? found : undefined
  return sendPage(reply, 200, UnpaidPage({ portal, invoice, payment, card, notice }))
}

/** Returns an issued invoice of this customer. An invoice of another customer is refused like one that does not exist. */
async function requireInvoice(pages: ReadParts, request: FastifyRequest, invoiceRef: string) {
  const { caller, customer, frame } = portalOf(request)
  const invoice = await read(pages, caller, (sql) =>
    findInvoice(sql, caller.providerId, invoiceRef),
  )
  if (invoice?.customerRef !== customer.reference || invoice.status === 'draft') {
    throw new ProblemError(problems.notFound, frame)
  }
  return invoice
}
