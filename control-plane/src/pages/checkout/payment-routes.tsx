import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { readPayment } from '@tollgate/domain/settlement/read-payment'
import type { PaymentIntent } from '@tollgate/domain/payments/payment-intent'
import { processorOf } from '@tollgate/domain/payments/payment-parts'
import { awaitPayment } from '@tollgate/domain/settlement/await-payment'
import { requiredReference } from '@tollgate/schemas/http/fields'
import type { ApiServer } from '../../access/api-server.ts'
import { cardEntryOrigins } from '../card-entry.ts'
import type { Notice } from '../notice.tsx'
import { sendPage } from '../page.tsx'
import { ProblemError, problems } from '../problem.tsx'
import { securityHeaders } from '../security-headers.ts'
import { beginPayment, type BeginPaymentParts } from './begin-payment.ts'
import { checkoutOf, checkoutPath, operationOfCheckout, type Checkout } from './checkout.ts'
import { debtPaidPage } from './debt-paid-page.tsx'
import { paysDebt, requirePayableIntent } from './payable-intent.ts'
import { CheckoutPaymentPage, WaitingPage } from './payment-page.tsx'
import { readBrand } from '../../invoices/read-brand.ts'
import { readInvoice } from '../../invoices/read-invoice.ts'
import { renderInvoice } from '../../invoices/render-invoice.ts'
import { sendDocument } from '../../invoices/send-document.ts'
import type { ReadParts } from '../../access/read.ts'

const params = z.object({ reference: z.string(), intentRef: requiredReference })
const path = `${checkoutPath}/:reference`

/**
 * Registers the payment on a checkout: the payment is created, the customer enters the card at the processor, and a page shows the
 * outcome.
 */
export function registerPaymentPages(app: ApiServer, pages: BeginPaymentParts): void {
  const config = { completesCheckout: true }
  app.post(`${path}/pay`, { schema: { hide: true }, config }, (request, reply) =>
    beginPayment(pages, request, reply),
  )

  app.get(`${path}/pay/:intentRef`, { schema: { hide: true, params } }, async (request, reply) => {
    const { declined } = request.query as { readonly declined?: unknown }
    const intent = await requirePayableIntent(pages, request, request.params.intentRef)
    const { path: checkoutPage } = checkoutOf(request)
    if (intent.status === 'succeeded') {
      const paidPath = paysDebt(intent) ? `${checkoutPage}/paid/${intent.reference}` : checkoutPage
      return reply.redirect(paidPath, 303)
    }
    return showPayment(
      pages,
      request,
      reply,
      intent,
      declined === 'yes' ? declinedNotice(checkoutOf(request)) : undefined,
    )
  })

  app.get(
    `${path}/paid/:intentRef`,
    { schema: { hide: true, params }, config: { servesExpired: true } },
    async (request, reply) => {
      const checkout = checkoutOf(request)
      const intent = await requirePayableIntent(pages, request, request.params.intentRef)
      const operation = operationOfCheckout(pages, request)
      const { paymentWaitMs } = pages.limits
      const settled = await awaitPayment(pages.payments, operation, intent.reference, paymentWaitMs)
      switch (settled.kind) {
        case 'succeeded':
          // The payment succeeded but could not be fulfilled, so it is being refunded.
          if (settled.intent.refundWanted) throw new ProblemError(problems.paidBack, checkout.frame)
          if (paysDebt(settled.intent)) {
            return sendPage(reply, 200, await debtPaidPage(pages, request, settled.intent))
          }
          return reply.redirect(checkout.path, 303)
        case 'processing':
        case 'late':
          return sendPage(reply, 200, <WaitingPage checkout={checkout} />)
        case 'failed':
        case 'unconfirmed':
          return reply.redirect(`${checkout.path}/pay/${intent.reference}?declined=yes`, 303)
        case 'canceled':
          throw new ProblemError(problems.paymentEnded, checkout.frame)
      }
    },
  )

  app.get(
    `${path}/paid/:intentRef/invoice`,
    { schema: { hide: true, params }, config: { servesExpired: true } },
    (request, reply) => sendReceipt(pages, request, reply, request.params.intentRef),
  )
}

function declinedNotice({ frame }: Checkout): Notice {
  return { tone: 'bad', text: frame.t('checkout:paymentDeclined') }
}

async function showPayment(
  pages: BeginPaymentParts,
  request: FastifyRequest,
  reply: FastifyReply,
  intent: PaymentIntent,
  notice: Notice | undefined,
): Promise<FastifyReply> {
  const checkout = checkoutOf(request)
  const { environment } = checkout.caller
  const entry = pages.cardEntries[environment]
  const { processorPaymentId } = intent
  if (entry.kind === 'none' || processorPaymentId === null) {
    throw new ProblemError(problems.noPayments, checkout.frame)
  }
  const lookup = await readPayment(processorOf(pages.payments, environment), processorPaymentId)
  const clientSecret = lookup?.payment.clientSecret
  if (clientSecret === undefined) throw new ProblemError(problems.paymentEnded, checkout.frame)
  const ownPaidPath = `${checkoutPath}/${checkout.session.reference}/paid/${intent.reference}`
  const returnUrl = pages.hostedUrl + ownPaidPath
  void reply.headers(securityHeaders(cardEntryOrigins(entry)))
  const shown = { checkout, intent, clientSecret, entry, returnUrl, notice }
  return sendPage(reply, 200, <CheckoutPaymentPage {...shown} />)
}

/** Sends the invoice of a payment that succeeded on the checkout, as a PDF. */
async function sendReceipt(
  pages: ReadParts,
  request: FastifyRequest,
  reply: FastifyReply,
  intentRef: string,
): Promise<FastifyReply> {
  const { caller, frame } = checkoutOf(request)
  const { status, invoiceRef } = await requirePayableIntent(pages, request, intentRef)
  const printed =
    status === 'succeeded' && invoiceRef !== null
      ? await readInvoice(pages, caller, invoiceRef)
      : undefined
  if (printed === undefined || printed.invoice.status === 'draft') {
    throw new ProblemError(problems.notFound, frame)
  }
  const brand = await readBrand(pages, caller)
  return sendDocument(reply, await renderInvoice(printed, brand, caller.environment))
}
