import { canStartTrial } from '../billing/start-trial.ts'
import { findPlan } from '../catalog/plans-repository.ts'
import { findProduct } from '../catalog/products-repository.ts'
import type { Customer } from '../customers/repository.ts'
import { listCarried } from '../invoices/carried-amounts.ts'
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
 * Sells a plan that is paid first if the customer's balance pays all of it. A plan that the customer can try first is not sold. A
 * repeated call finds the plan active, so it needs no idempotency key of its own.
 */
export async function activateFromBalance(
  parts: PaymentParts,
  operation: Operation,
  of: PlanOfCustomer,
): Promise<BalanceSale> {
  const { providerId, environment, now } = operation
  const rows = parts.database.of(providerId).in(environment)
  const isPayable = await rows.read((sql) => mayPay({ sql, providerId, now }, of))
  if (!isPayable) return { kind: 'rest-left' }
  const request: PaymentRequest = {
    ...of,
    purpose: 'product',
    amountMinor: undefined,
    currency: undefined,
    description: undefined,
    checkoutSessionId: undefined,
    keepsCard: false,
    recharge: undefined,
    idempotencyKey: `activate:${generateReference('transaction')}`,
  }
  const priced = await priceRequest(parts, operation, request)
  if (priced.kind !== 'priced') return { kind: 'rest-left' }
  const draft = intentDraftOf(request, priced, requestDigest(request))
  return sellFromBalance(parts, operation, priced, draft)
}

/** Returns whether the customer has a credit, and the plan begins with a payment. The sale decides again under its locks. */
async function mayPay(
  { sql, providerId, now }: ReadingAt,
  { customer, productRef, planRef }: PlanOfCustomer,
): Promise<boolean> {
  const { reference: customerRef } = customer
  const carried = await listCarried(sql, providerId, customerRef)
  if (![...carried.values()].some((amountMinor) => amountMinor < 0n)) return false
  const product = await findProduct(sql, providerId, productRef)
  const plan = await findPlan(sql, providerId, productRef, planRef)
  if (product === undefined || plan === undefined) return false
  const state = await readActivationState(sql, providerId, { customerRef, productRef, planRef })
  const soldOut = await isSoldOut(sql, providerId, plan, customerRef)
  const input = { product, plan, ...state, isSoldOut: soldOut, now }
  const decision = decideActivation(input)
  return decision.kind === 'payment-required' && !decision.hasDebts && !canStartTrial(input)
}
