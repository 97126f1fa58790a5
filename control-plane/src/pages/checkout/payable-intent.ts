import type { FastifyRequest } from 'fastify'
import { findIntent } from '@tollgate/domain/payments/intents-repository'
import type { PaymentIntent } from '@tollgate/domain/payments/payment-intent'
import type { CheckoutSession } from '@tollgate/domain/sessions/checkout-sessions'
import { read, type ReadParts } from '../../access/read.ts'
import { ProblemError, problems } from '../problem.tsx'
import { checkoutOf } from './checkout.ts'

/** Returns a payment that this checkout may show. Refuses every other payment with the same page as an unknown one. */
export async function requirePayableIntent(
  pages: ReadParts,
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

/** Returns whether the payment pays an invoice that existed before the checkout. */
export function paysDebt({ invoiceRef, purpose }: PaymentIntent): boolean {
  return invoiceRef !== null && purpose === 'usage_billing'
}

/** Returns whether the payment was created on the checkout, or pays an invoice for the checkout's product. */
function isPayableOn(session: CheckoutSession, intent: PaymentIntent): boolean {
  if (!paysDebt(intent)) return intent.checkoutSessionId === session.sessionId
  const { customerRef, productRef } = session
  return intent.customerRef === customerRef && intent.productRef === productRef
}
