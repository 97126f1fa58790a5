import { canStartTrial } from '../billing/start-trial.ts'
import { findPlan } from '../catalog/plans-repository.ts'
import { findProduct } from '../catalog/products-repository.ts'
import type { Customer } from '../customers/repository.ts'
import { listCarried } from '../invoices/carried-amounts.ts'
import { isBoughtOnce, isPack } from '../packs/pack-terms.ts'
import { findIntentByKey } from '../payments/intents-repository.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import type { PaymentParts } from '../payments/payment-parts.ts'
import { isSoldOut } from '../plans/sold-out.ts'
import { decideActivation } from '../purchases/decide-activation.ts'
import { readActivationState } from '../purchases/read-activation-state.ts'
import type { PaymentRequest } from '../settlement/payment-request.ts'
import { priceRequest } from '../settlement/price-request.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import type { Operation, ReadingAt } from '../unit-of-work/unit-of-work.ts'
import { intentDraftOf, requestDigest } from './create-payment.ts'
import { sellFromBalance, type BalanceSale } from './sell-from-balance.ts'

type PlanOfCustomer = {
  readonly customer: Customer
  readonly productRef: string
  readonly planRef: string
}

/**
 * Sells a plan that is paid first if the customer's balance or discounts pay all of it. A plan that the customer can try first is not
 * sold. A repeated call finds the plan active, or its sale by the idempotency key. A pack can be bought again, so it is sold only to a
 * call with a key.
 */
export async function activateFromBalance(
  parts: PaymentParts,
  operation: Operation,
  of: PlanOfCustomer,
): Promise<BalanceSale> {
  const { providerId, environment, now, idempotencyKey: ownKey } = operation
  const rows = parts.database.of(providerId).in(environment)
  const request: PaymentRequest = {
    ...of,
    purpose: 'product',
    amountMinor: undefined,
    currency: undefined,
    description: undefined,
    checkoutSessionId: undefined,
    keepsCard: false,
    recharge: undefined,
    idempotencyKey: `activate:${ownKey ?? generateReference('transaction')}`,
  }
  const inputSha256 = requestDigest(request)
  const isOf = (known: PaymentIntent): boolean => known.inputSha256 === inputSha256
  if (ownKey !== null) {
    const known = await rows.read((sql) => findIntentByKey(sql, providerId, request.idempotencyKey))
    if (known !== undefined && isOf(known)) return { kind: 'sold', intent: known }
  }
  const isPayable = await rows.read((sql) =>
    mayPay({ sql, providerId, now }, { ...of, isKeyed: ownKey !== null }),
  )
  if (!isPayable) return { kind: 'rest-left' }
  const priced = await priceRequest(parts, operation, request)
  if (priced.kind !== 'priced') return { kind: 'rest-left' }
  const draft = intentDraftOf(request, priced, inputSha256)
  const sale = await sellFromBalance(parts, operation, priced, draft)
  if (sale.kind !== 'repeated') return sale
  return isOf(sale.intent) ? { kind: 'sold', intent: sale.intent } : { kind: 'rest-left' }
}

/**
 * Returns whether the plan begins with a payment of which nothing may be left: the customer has a credit, or discounts may take off all
 * of what is bought once. The sale decides again under its locks.
 */
async function mayPay(
  { sql, providerId, now }: ReadingAt,
  { customer, productRef, planRef, isKeyed }: PlanOfCustomer & { readonly isKeyed: boolean },
): Promise<boolean> {
  const { reference: customerRef } = customer
  const plan = await findPlan(sql, providerId, productRef, planRef)
  if (plan === undefined || (isPack(plan) && !isKeyed)) return false
  const carried = await listCarried(sql, providerId, customerRef)
  const hasCredit = [...carried.values()].some((amountMinor) => amountMinor < 0n)
  if (!hasCredit && !isBoughtOnce(plan)) return false
  const product = await findProduct(sql, providerId, productRef)
  if (product === undefined) return false
  const state = await readActivationState(sql, providerId, { customerRef, productRef, planRef })
  const soldOut = await isSoldOut(sql, providerId, plan, customerRef)
  const input = { product, plan, ...state, isSoldOut: soldOut, now }
  const decision = decideActivation(input)
  return decision.kind === 'payment-required' && !decision.hasDebts && !canStartTrial(input)
}
