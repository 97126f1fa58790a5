import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findIntent } from '@tollgate/domain/payments/intents-repository'
import { lookAtPayment } from '@tollgate/domain/payments/look-at-payment'
import type { PaymentIntent } from '@tollgate/domain/payments/payment-intent'
import { processorOf } from '@tollgate/domain/payments/payment-parts'
import { settlePayment } from '@tollgate/domain/payments/settle-payment'
import type { CheckoutSession } from '@tollgate/domain/sessions/checkout-sessions'
import { requiredReference } from '@tollgate/schemas/http/fields'
import type { ApiServer } from '../../http/api-server.ts'
import { read } from '../../http/read.ts'
import { originsFor } from '../card-entry.ts'
import type { PageParts } from '../frame.ts'
import type { Notice } from '../notice.tsx'
import { sendPage } from '../page.tsx'
import { ProblemError, problems } from '../problem.tsx'
import { securityHeaders } from '../security-headers.ts'
import { beginPayment } from './begin-payment.ts'
import { checkoutOf, checkoutPath, operationOfCheckout } from './checkout.ts'
import { CheckoutPaymentPage, WaitingPage } from './payment-page.tsx'

const params = z.object({ reference: z.string(), intentRef: requiredReference })
const path = `${checkoutPath}/:reference`

/** Paying on a checkout: the payment is made, its card entered elsewhere, and what came of it shown. */
export function registerPaymentPages(app: ApiServer, pages: PageParts): void {
  app.post(`${path}/pay`, { schema: { hide: true } }, (request, reply) =>
    beginPayment(pages, request, reply),
  )

  app.get(`${path}/pay/:intentRef`, { schema: { hide: true, params } }, async (request, reply) => {
    const { declined } = request.query as { readonly declined?: unknown }
    const intent = await requireIntent(pages, request, request.params.intentRef)
    if (intent.status === 'succeeded') return reply.redirect(checkoutOf(request).path, 303)
    return showPayment(
      pages,
      request,
      reply,
      intent,
      declined === 'yes' ? declinedNotice : undefined,
    )
  })

  app.get(
    `${path}/paid/:intentRef`,
    { schema: { hide: true, params }, config: { servesExpired: true } },
    async (request, reply) => {
      const checkout = checkoutOf(request)
      const intent = await requireIntent(pages, request, request.params.intentRef)
      const operation = operationOfCheckout(pages, request)
      const { paymentWaitMs } = pages.limits
      const settled = await settlePayment(
        pages.payments,
        operation,
        intent.reference,
        paymentWaitMs,
      )
      switch (settled.kind) {
        case 'succeeded':
          // Paid for nothing that could be given: it is being paid back.
          if (settled.intent.refundWanted) throw new ProblemError(problems.paidBack, checkout.frame)
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
}

const declinedNotice: Notice = {
  tone: 'bad',
  text: 'The payment did not go through, and nothing was charged. Please try again, or use another card.',
}

/** A payment that was made on the checkout, or the payment of an invoice for the checkout's product. */
function isPayableOn(session: CheckoutSession, intent: PaymentIntent): boolean {
  if (intent.invoiceRef === null || intent.purpose !== 'usage_billing') {
    return intent.checkoutSessionId === session.sessionId
  }
  const { customerRef, productRef } = session
  return intent.customerRef === customerRef && intent.productRef === productRef
}

/** Refuses payments that this checkout may not show exactly as unknown ones. */
async function requireIntent(
  pages: PageParts,
  request: FastifyRequest,
  reference: string,
): Promise<PaymentIntent> {
  const { caller, session, frame } = checkoutOf(request)
  const intent = await read(pages, caller, (sql) => findIntent(sql, caller.providerId, reference))
  if (intent === undefined || !isPayableOn(session, intent)) {
    throw new ProblemError(problems.notFound, frame)
  }
  return intent
}

async function showPayment(
  pages: PageParts,
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
  const look = await lookAtPayment(processorOf(pages.payments, environment), processorPaymentId)
  const clientSecret = look?.payment.clientSecret
  if (clientSecret === undefined) throw new ProblemError(problems.paymentEnded, checkout.frame)
  const paid = `${checkoutPath}/${checkout.session.reference}/paid/${intent.reference}`
  const returnUrl = pages.hostedUrl + paid
  void reply.headers(securityHeaders(originsFor(entry)))
  const shown = { checkout, intent, clientSecret, entry, returnUrl, notice }
  return sendPage(reply, 200, <CheckoutPaymentPage {...shown} />)
}
