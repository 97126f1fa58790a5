import { findRecurringPeriod } from '../invoices/billed-periods.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { paysInvoice, purposeOf, type PaymentPurpose } from '../payments/payment-purpose.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { autoRecharge } from './auto-recharge.ts'
import { cardCheck } from './card-check.ts'
import { firstSale } from './first-sale.ts'
import type { CardCheckHandler, Payment, PaymentHandler } from './payment-handler.ts'
import { planChange } from './plan-change.ts'
import { renewal } from './renewal.ts'
import { topUp } from './top-up.ts'
import { usage } from './usage.ts'

type Handlers = Readonly<Record<PaymentPurpose, PaymentHandler>> & {
  readonly 'card-check': CardCheckHandler
}

/** Handlers by purpose of payment. */
export const paymentHandlers: Handlers = {
  'first-sale': firstSale,
  'plan-change': planChange,
  'top-up': topUp,
  'auto-recharge': autoRecharge,
  renewal,
  usage,
  'card-check': cardCheck,
}

export function handlerOf({ intent, debt }: Payment): PaymentHandler {
  return paymentHandlers[purposeOf(intent, debt?.period !== undefined)]
}

/** Returns the handler without locking the invoice, because refunds and disputes lock the customer first. */
export async function findHandler(
  { sql, providerId }: UnitOfWork,
  intent: PaymentIntent,
): Promise<PaymentHandler> {
  const { invoiceRef } = intent
  const period =
    invoiceRef !== null && paysInvoice(intent)
      ? await findRecurringPeriod(sql, providerId, invoiceRef)
      : undefined
  return paymentHandlers[purposeOf(intent, period !== undefined)]
}
