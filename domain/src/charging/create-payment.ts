import { setTimeout as sleep } from 'node:timers/promises'
import { saveAutoRecharge } from '../auto-recharge/repository.ts'
import type { RedemptionFault } from '../coupons/decide-redemption.ts'
import { insertHold, lockRedeemable } from '../coupons/redeem-coupon.ts'
import { lockCustomer } from '../customers/repository.ts'
import { isCreditBased, type Plan } from '../plans/plan.ts'
import { holdCarried } from '../invoices/carried-amounts.ts'
import { sha256OfInput } from '../money-ledger/ledger.ts'
import type { Operation, UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { findOpenAttempt } from '../payments/attempts-repository.ts'
import { requestCancelOfHolders } from '../payments/balance-payments-repository.ts'
import { discountedAwayReason } from '../settlement/decide-terms.ts'
import { executeAttempt } from '../settlement/execute-attempt.ts'
import { findIntent, findIntentByKey } from '../payments/intents-repository.ts'
import { readPayment } from '../settlement/read-payment.ts'
import { openIntent, type IntentDraft, type OpenedIntent } from '../settlement/open-intent.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { processorOf, type PaymentParts } from '../payments/payment-parts.ts'
import type { PaymentRequest } from '../settlement/payment-request.ts'
import {
  couponRefused,
  priceRequest,
  type PricedRequest,
  type RefusedRequest,
} from '../settlement/price-request.ts'
import { cannotRepeat, reconcileIntent } from '../settlement/reconcile-intent.ts'
import { requireProcessorCustomer } from '../payments/processor-customers.ts'
import { lockBalanceUse, sellFromBalance, type BalanceSale } from './sell-from-balance.ts'

export type CreateOutcome =
  | {
      readonly kind: 'created'
      readonly intent: PaymentIntent
      /** Undefined if the payment has ended and the processor did not return the secret. */
      readonly clientSecret: string | undefined
    }
  | RefusedRequest
  | { readonly kind: 'product-not-found' }
  | { readonly kind: 'plan-not-found' }
  /** The idempotency key was used with another request. */
  | { readonly kind: 'key-reused' }
  /** The processor did not answer. A repeated request with the same key returns the same payment. */
  | { readonly kind: 'unknown'; readonly message: string }

/**
 * Creates a payment that the customer's browser then confirms. The payment and the parameters of the call are committed
 * before the call, so after a crash at any moment a request with the same key finds and continues them.
 *
 * Throws PaymentUnknownError if the customer could not be registered at the processor. Nothing is stored in that case.
 */
export async function createPayment(
  parts: PaymentParts,
  operation: Operation,
  request: PaymentRequest,
): Promise<CreateOutcome> {
  const { providerId, environment } = operation
  const rows = parts.database.of(providerId).in(environment)
  const inputSha256 = requestDigest(request)
  const known = await rows.read((sql) => findIntentByKey(sql, providerId, request.idempotencyKey))
  if (known !== undefined) return repeatPayment(parts, operation, known, inputSha256)

  const priced = await priceRequest(parts, operation, request)
  if (priced.kind !== 'priced') return priced
  const draft = intentDraftOf(request, priced, inputSha256)
  await withdrawHolders(parts, operation, request)
  // Automatic recharges need the card of a payment.
  const sale: BalanceSale =
    request.recharge === undefined
      ? await sellFromBalance(parts, operation, priced, draft)
      : { kind: 'rest-left' }
  if (sale.kind === 'refused') return sale
  if (sale.kind === 'repeated') return repeatPayment(parts, operation, sale.intent, inputSha256)
  if (sale.kind === 'sold') return createdOutcome(sale.intent, undefined)
  if (priced.terms.originalAmountMinor === 0n) {
    return { kind: 'refused', reason: discountedAwayReason }
  }
  const processorCustomerId = await requireProcessorCustomer(parts, operation, request.customer)
  const opened = await parts.commit(operation, async (work) => {
    const concurrent = await findIntentByKey(work.sql, providerId, request.idempotencyKey)
    if (concurrent !== undefined) return concurrent
    const { recharge, customer } = request
    const fault = await findCouponFault(work, request)
    if (fault !== undefined) return couponRefused(fault)
    const fromBalanceMinor = await holdForRest(work, customer.reference, priced)
    if (recharge !== undefined) {
      const terms = { ...recharge, status: 'pending_setup' } as const
      await saveAutoRecharge(work, customer.reference, terms)
    }
    const begun = await openIntent(work, { ...draft, processorCustomerId, fromBalanceMinor })
    const { couponRef } = request
    if (couponRef !== undefined) {
      await insertHold(work, { couponRef, customerRef: customer.reference }, begun.intent)
    }
    return begun
  })
  if ('kind' in opened) return opened
  if (!('intent' in opened)) return repeatPayment(parts, operation, opened, inputSha256)
  return sendCreation(parts, operation, opened)
}

/** Returns why the coupon of the request can no longer be redeemed. The coupon stays locked until its redemption is held. */
async function findCouponFault(
  work: UnitOfWork,
  { couponRef, customer: { reference: customerRef } }: PaymentRequest,
): Promise<RedemptionFault | undefined> {
  if (couponRef === undefined) return undefined
  // Redemptions lock the customer before the coupon.
  await lockCustomer(work.sql, work.providerId, customerRef)
  return lockRedeemable(work, { couponRef, customerRef })
}

/**
 * Holds the part of the price that the balance pays, and returns it. The processor charges the rest. The credit is held until the
 * payment has ended: a payment that never succeeds expires, and gives it back.
 */
async function holdForRest(
  work: UnitOfWork,
  customerRef: string,
  priced: PricedRequest,
): Promise<bigint> {
  const { sql, providerId, now } = work
  const { currency } = priced.terms
  const fromBalanceMinor = (await lockBalanceUse(work, customerRef, priced, 'a part')) ?? 0n
  await holdCarried(sql, providerId, { customerRef, currency }, fromBalanceMinor, now)
  return fromBalanceMinor
}

/**
 * Withdraws payments of the product that hold the customer's credit and that nobody has confirmed, so that the payment of another plan
 * on a hosted checkout can use it. A payment that is confirmed at the same moment stays, and keeps its part of the credit. After a crash
 * behind the commit, the job that reconciles payments cancels them.
 */
async function withdrawHolders(
  parts: PaymentParts,
  operation: Operation,
  { customer, productRef, checkoutSessionId }: PaymentRequest,
): Promise<void> {
  if (checkoutSessionId === undefined || productRef === undefined) return
  const of = { customerRef: customer.reference, productRef }
  const holders = await parts.commit(operation, ({ sql, providerId, now }) =>
    requestCancelOfHolders(sql, providerId, of, now),
  )
  for (const reference of holders) await reconcileIntent(parts, operation, reference)
}

/**
 * Answers a repeated request: returns the result of the first request, or finishes what the first request left undone.
 */
function repeatPayment(
  parts: PaymentParts,
  operation: Operation,
  intent: PaymentIntent,
  inputSha256: string,
): Promise<CreateOutcome> | CreateOutcome {
  if (intent.inputSha256 !== inputSha256) return { kind: 'key-reused' }
  return continuePayment(parts, operation, intent.reference, checksMax)
}

/** How often, and at which interval, a repeated request checks whether the first request has finished. */
const checksMax = 20
const checkPauseMs = 100

async function continuePayment(
  parts: PaymentParts,
  operation: Operation,
  reference: string,
  checksLeft: number,
): Promise<CreateOutcome> {
  const { providerId, environment } = operation
  const rows = parts.database.of(providerId).in(environment)
  // Order matters: if there is no open call, the payment that is read afterwards contains its result.
  const attempt = await rows.read((sql) => findOpenAttempt(sql, providerId, reference))
  const intent = await rows.read((sql) => findIntent(sql, providerId, reference))
  if (intent === undefined) throw new Error(`payment ${reference} is gone`)
  if (attempt?.operation === 'create' && cannotRepeat(attempt, parts.now()) && checksLeft > 0) {
    await reconcileIntent(parts, operation, reference)
    return continuePayment(parts, operation, reference, checksLeft - 1)
  }
  if (attempt?.operation === 'create') {
    return sendCreation(parts, operation, { intent, attempt }, checksLeft)
  }
  const { processorPaymentId } = intent
  if (processorPaymentId === null) return createdOutcome(intent, undefined)
  const reading = await readPayment(processorOf(parts, environment), processorPaymentId)
  return createdOutcome(intent, reading?.payment.clientSecret)
}

async function sendCreation(
  parts: PaymentParts,
  operation: Operation,
  { intent, attempt }: OpenedIntent,
  checksLeft = checksMax,
): Promise<CreateOutcome> {
  const result = await executeAttempt(parts, operation, intent, attempt)
  if (result.kind === 'unknown' && result.isInProgress && checksLeft > 0) {
    await sleep(checkPauseMs)
    return continuePayment(parts, operation, intent.reference, checksLeft - 1)
  }
  return result.kind === 'unknown' ? result : createdOutcome(result.intent, result.clientSecret)
}

function createdOutcome(intent: PaymentIntent, clientSecret: string | undefined): CreateOutcome {
  const isPaidByBalance = intent.status === 'succeeded'
  if (intent.processorPaymentId !== null || isPaidByBalance)
    return { kind: 'created', intent, clientSecret }
  return { kind: 'refused', reason: `The payment was refused: ${intent.failureReason ?? ''}` }
}

export function intentDraftOf(
  request: PaymentRequest,
  { plan, terms, tax, planSwitch, discounts = [], cycleMode, sellerName }: PricedRequest,
  inputSha256: string,
): IntentDraft {
  return {
    purpose: request.purpose,
    customerRef: request.customer.reference,
    processorCustomerId: null,
    productRef: request.productRef ?? null,
    plan,
    cycleMode,
    checkoutSessionId: request.checkoutSessionId ?? null,
    paymentMethodId: null,
    keepsCard: request.keepsCard || request.recharge !== undefined || isChargedAgain(plan),
    terms,
    tax,
    planSwitch,
    ...(discounts.length === 0 ? {} : { discounts }),
    description: request.description ?? null,
    sellerName,
    purchaseRef: null,
    invoiceRef: null,
    idempotencyKey: request.idempotencyKey,
    inputSha256,
  }
}

/**
 * Returns whether the plan is charged later without the customer being present: at its renewals, or at the end of its
 * periods.
 */
function isChargedAgain(plan: Plan | undefined): boolean {
  return plan !== undefined && plan.type !== 'one-time' && !isCreditBased(plan)
}

export function requestDigest(request: PaymentRequest): string {
  const { customer, purpose, productRef, planRef, amountMinor, currency, description } = request
  return sha256OfInput([
    customer.reference,
    purpose,
    productRef ?? null,
    planRef ?? null,
    amountMinor?.toString() ?? null,
    currency ?? null,
    description ?? null,
    request.recharge === undefined ? null : 'recharge',
    ...(request.couponRef === undefined ? [] : [request.couponRef]),
  ])
}
