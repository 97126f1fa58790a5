import { z } from 'zod'
import { openInvoicePayment } from '@tollgate/domain/charging/open-invoice-payment'
import { requiredReference } from '@tollgate/schemas/http/fields'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { PaymentParts } from '@tollgate/domain/payments/payment-parts'
import type { ApiServer } from '../../access/api-server.ts'
import { showFormAgain } from '../submitted-form.ts'
import { ProblemError, problems } from '../problem.tsx'
import { checkoutOf, checkoutPath, operationOfCheckout } from './checkout.ts'
import { readDebts } from './read-debts.ts'
import type { ReadParts } from '../../access/read.ts'
import type { CardEntries } from '../card-entry.ts'

type Parts = ReadParts & {
  readonly clock: Clock
  readonly payments: PaymentParts
  readonly cardEntries: CardEntries
  readonly hostedUrl: string
}

const params = z.object({ reference: z.string(), invoiceRef: requiredReference })
const path = `${checkoutPath}/:reference/debts/:invoiceRef`

/** Registers the form that creates the payment of an unpaid invoice and leads to the page where the customer enters a card. */
export function registerDebtPayment(app: ApiServer, pages: Parts): void {
  const config = { completesCheckout: true }
  app.post(path, { schema: { hide: true, params }, config }, async (request, reply) => {
    const checkout = checkoutOf(request)
    const { caller, customer, frame } = checkout
    if (pages.cardEntries[caller.environment].kind === 'none') {
      throw new ProblemError(problems.noPayments, frame)
    }
    const { invoiceRef } = request.params
    const debts = await readDebts(pages, checkout)
    if (!debts.some(({ reference }) => reference === invoiceRef)) {
      return reply.redirect(checkout.path, 303)
    }
    const operation = operationOfCheckout(pages, request)
    const payment = await openInvoicePayment(pages.payments, operation, customer, invoiceRef)
    switch (payment.kind) {
      case 'open': {
        const { status, reference } = payment.intent
        const page = status === 'processing' ? 'paid' : 'pay'
        return reply.redirect(`${checkout.path}/${page}/${reference}`, 303)
      }
      case 'nothing':
        return reply.redirect(checkout.path, 303)
      case 'busy': {
        const text = frame.t('checkout:paymentBusy')
        return showFormAgain(pages, reply, checkout, checkout.path, { fields: {}, text })
      }
    }
  })
}
