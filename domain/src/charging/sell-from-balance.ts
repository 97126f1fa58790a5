import { findReusablePaymentMethod } from '../cards/repository.ts'
import { lockCustomer } from '../customers/repository.ts'
import { lockCarried, readCarried } from '../invoices/carried-amounts.ts'
import { decideBalanceUse } from '../payments/decide-balance-use.ts'
import { findIntentByKey } from '../payments/intents-repository.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import type { PaymentParts } from '../payments/payment-parts.ts'
import { requiresCard } from '../purchases/decide-activation.ts'
import { deliverFromBalance, UndeliverableError } from '../settlement/deliver-from-balance.ts'
import type { IntentDraft } from '../settlement/open-intent.ts'
import type { PricedRequest } from '../settlement/price-request.ts'
import { readNeededDetails } from '../tax-service/needs-tax-details.ts'
import type { Operation, ReadingAt, UnitOfWork } from '../unit-of-work/unit-of-work.ts'

export type BalanceSale =
  | { readonly kind: 'sold'; readonly intent: PaymentIntent }
  /** A payment with the same idempotency key exists. */
  | { readonly kind: 'repeated'; readonly intent: PaymentIntent }
  /** The balance does not pay the whole price, so a payment is needed for the rest. */
  | { readonly kind: 'rest-left' }
  | { readonly kind: 'refused'; readonly reason: string }

/**
 * Sells a plan without a payment if the customer's balance pays the whole price with its tax, or if discounts left no price. Everything
 * is one transaction, under the locks of the customer and of a balance that pays, so two sales never use the same credit.
 */
export async function sellFromBalance(
  parts: PaymentParts,
  operation: Operation,
  priced: PricedRequest,
  draft: IntentDraft,
): Promise<BalanceSale> {
  const { providerId, environment } = operation
  const rows = parts.database.of(providerId).in(environment)
  const { customerRef, idempotencyKey } = draft
  // Most customers have no credit, and this read spares them the transaction.
  const expectedMinor = await rows.read((sql) =>
    readBalanceUse({ sql, providerId }, customerRef, priced),
  )
  if (expectedMinor < priceWithTax(priced)) return { kind: 'rest-left' }
  try {
    return await parts.commit(operation, async (work): Promise<BalanceSale> => {
      const known = await findIntentByKey(work.sql, providerId, idempotencyKey)
      if (known !== undefined) return { kind: 'repeated', intent: known }
      const fromBalanceMinor = await lockBalanceUse(work, customerRef, priced, 'everything')
      if (fromBalanceMinor === undefined) {
        return { kind: 'refused', reason: 'The customer was deleted' }
      }
      if (fromBalanceMinor < priceWithTax(priced)) return { kind: 'rest-left' }
      const whole = { ...draft, fromBalanceMinor }
      return { kind: 'sold', intent: await deliverFromBalance(work, whole, parts.hostedUrl) }
    })
  } catch (error) {
    if (error instanceof UndeliverableError) return { kind: 'refused', reason: error.message }
    throw error
  }
}

/**
 * Returns how much of the price the customer's balance pays. The balance does not pay for credits of a wallet, because they count as
 * paid for, and the provider may have granted the balance.
 */
export async function readBalanceUse(
  reading: Omit<ReadingAt, 'now'>,
  customerRef: string,
  priced: PricedRequest,
): Promise<bigint> {
  if (!paysByBalance(priced)) return 0n
  const { currency } = priced.terms
  const creditMinor = -(await readCarried(reading.sql, reading.providerId, {
    customerRef,
    currency,
  }))
  return useOf(reading, customerRef, priced, creditMinor, 'everything')
}

/**
 * Returns how much of the price the balance pays, everything or at most a part, and locks the customer, and the balance if there is a
 * price. Undefined if the customer was deleted.
 */
export async function lockBalanceUse(
  work: UnitOfWork,
  customerRef: string,
  priced: PricedRequest,
  most: 'everything' | 'a part',
): Promise<bigint | undefined> {
  if (!paysByBalance(priced)) return 0n
  const { sql, providerId } = work
  if ((await lockCustomer(sql, providerId, customerRef)) === undefined) return undefined
  // What costs nothing leaves the balance alone. A bill locks the purchase, whose discounts the sale locks later, before the balance.
  if (priceWithTax(priced) === 0n) return 0n
  const { currency } = priced.terms
  const creditMinor = -(await lockCarried(sql, providerId, { customerRef, currency }))
  return useOf(work, customerRef, priced, creditMinor, most)
}

function paysByBalance({ plan, terms }: PricedRequest): boolean {
  return plan !== undefined && terms.credits === null
}

async function useOf(
  { sql, providerId }: Omit<ReadingAt, 'now'>,
  customerRef: string,
  priced: PricedRequest,
  creditMinor: bigint,
  most: 'everything' | 'a part',
): Promise<bigint> {
  const { plan, terms } = priced
  if (creditMinor <= 0n) return 0n
  // A plan that starts only with a saved card gets it from the payment of the rest.
  const needsCard =
    plan !== undefined &&
    requiresCard(plan) &&
    (await findReusablePaymentMethod(sql, providerId, customerRef)) === undefined
  // Without a country the sale would have no tax. The customer states it when paying the rest.
  const needsCountry = priced.tax === null && (await readNeededDetails(sql, providerId)).isNeeded
  const mayPayAll = most === 'everything' && !needsCard && !needsCountry
  const { currency } = terms
  return decideBalanceUse({ totalMinor: priceWithTax(priced), creditMinor, currency, mayPayAll })
}

/** Returns the price with tax, in minor units. */
export function priceWithTax({ tax, terms }: PricedRequest): bigint {
  return tax?.totalMinor ?? terms.originalAmountMinor
}
