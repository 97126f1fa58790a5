import { minorPerMajor } from '@tollgate/domain/money/currencies'
import type { PaymentRequest } from '@tollgate/domain/settlement/payment-request'
import { parseMajor } from '../amount.ts'
import type { Checkout } from './checkout.ts'
import { minimumTopUpMinor, maximumTopUpMinor } from './top-up-amounts.ts'

/** Returns the payment that the form of a customer requests. */
export function paymentRequestOf(
  { session, customer }: Checkout,
  form: Readonly<Record<string, string>>,
): PaymentRequest {
  const currency = form['currency']?.toUpperCase().slice(0, 3)
  const isTopUp = session.purpose === 'credit_topup'
  const amountMinor = isTopUp ? parseMinor(form['amount'], currency) : undefined
  const planRef = isTopUp ? undefined : (session.planRef ?? form['plan'] ?? '')
  const { couponRef } = session
  return {
    customer,
    purpose: session.purpose,
    productRef: session.productRef ?? undefined,
    planRef,
    amountMinor,
    currency,
    description: undefined,
    ...(couponRef === null ? {} : { couponRef }),
    checkoutSessionId: session.sessionId,
    keepsCard: !isTopUp,
    recharge: undefined,
    // The same choice on the same checkout gives the same key, so a repeated form returns the same payment.
    idempotencyKey: `checkout:${session.reference}:${planRef ?? amountMinor ?? ''}:${currency ?? ''}${
      couponRef === null ? '' : `:${couponRef}`
    }`,
  }
}

/** What is wrong with a typed amount of a top-up. */
export type AmountFault = 'unreadable' | 'too-small' | 'too-large'

export function faultOfAmount(
  text: string | undefined,
  currency: string | undefined,
): AmountFault | undefined {
  const amountMinor = parseMinor(text, currency)
  if (amountMinor === undefined || currency === undefined) return 'unreadable'
  if (amountMinor < minimumTopUpMinor(currency)) return 'too-small'
  return amountMinor > maximumTopUpMinor ? 'too-large' : undefined
}

/**
 * Returns the typed amount in minor units, exactly. A typed amount has at most 2 decimals. Returns undefined if the text is no
 * amount, or if the currency has no minor unit that small.
 */
function parseMinor(text: string | undefined, currency: string | undefined): bigint | undefined {
  const typed = text?.trim() ?? ''
  if (parseMajor(typed) === undefined || currency === undefined) return undefined
  const [whole = '0', decimals = ''] = typed.replace(',', '.').split('.')
  const hundredths = BigInt(whole) * 100n + BigInt(decimals.padEnd(2, '0'))
  const perMinor = 100n / minorPerMajor(currency)
  return hundredths % perMinor === 0n ? hundredths / perMinor : undefined
}
