import { jobOperation } from '../unit-of-work/job-operation.ts'
import type { Operation } from '../unit-of-work/unit-of-work.ts'
import { applyPaymentState } from './apply-payment-state.ts'
import {
  findOpenAttempt,
  insertAttempt,
  settleAttempt,
  type AttemptOperation,
  type PaymentAttempt,
} from '../payments/attempts-repository.ts'
import { executeAttempt } from './execute-attempt.ts'
import { findIntent, lockIntent } from '../payments/intents-repository.ts'
import { readPayment, toPaymentReading } from './read-payment.ts'
import { ensureSellerName } from './ensure-seller-name.ts'
import { intentMetadataKey, type PaymentIntent } from '../payments/payment-intent.ts'
import { paysInvoice } from '../payments/payment-purpose.ts'
import { processorOf, type PaymentParts } from '../payments/payment-parts.ts'
import { refundUndelivered } from './refund-undelivered.ts'
import { isFinal } from '../payments/transitions.ts'

/** How long the processor remembers an idempotency key (24 hours), less one hour for calls in progress. */
const keyKnownMs = 23 * 3_600_000

/** After more than this number of server errors under one key, the processor repeats the error for that key. */
const sendsMax = 3

/**
 * Reads the state of a payment from the processor and acts on it. A call with an unknown outcome is repeated or looked up. An
 * expired or unwanted payment is canceled or refunded. Running it again at any time is harmless.
 */
export async function reconcileIntent(
  parts: PaymentParts,
  operation: Operation,
  reference: string,
): Promise<PaymentIntent | undefined> {
  const { providerId, environment, now } = operation
  const rows = parts.database.of(providerId).in(environment)
  // The payment is read last, so it has the id at the processor that an open call of another process needs.
  const { attempt, intent } = await rows.read(async (sql) => ({
    attempt: await findOpenAttempt(sql, providerId, reference),
    intent: await findIntent(sql, providerId, reference),
  }))
  if (intent === undefined) return undefined
  if (attempt?.operation === 'refund' || (isFinal(intent.status) && intent.refundWanted)) {
    return refundUndelivered(parts, operation, intent, attempt)
  }
  await ensureSellerName(parts, operation, intent)
  const found =
    attempt === undefined ? intent : await resolveAttempt(parts, operation, intent, attempt)
  if (isFinal(found.status) && !found.settlementWanted) return found
  const current = await applyCurrentState(parts, operation, found)
  const isUnwanted =
    current.cancelWanted || (current.expiresAt <= now && isAwaitingCustomer(current))
  return isUnwanted && !isFinal(current.status)
    ? beginAttempt(parts, operation, current, 'cancel', {})
    : current
}

/** Returns the operation of the job that reconciles payments. */
export function reconcileOperation(
  providerId: string,
  environment: Operation['environment'],
  now: Date,
) {
  return jobOperation('reconcile-payments', { providerId, environment }, now)
}

function isAwaitingCustomer(intent: PaymentIntent): boolean {
  return !paysInvoice(intent) && intent.status !== 'processing'
}

/** Applies the processor's current state. A payment that the processor has not confirmed stays unchanged. */
async function applyCurrentState(
  parts: PaymentParts,
  operation: Operation,
  intent: PaymentIntent,
): Promise<PaymentIntent> {
  const { processorPaymentId, reference } = intent
  if (processorPaymentId === null) return intent
  const processor = processorOf(parts, operation.environment)
  const reading = await readPayment(processor, processorPaymentId)
  if (reading === undefined) return intent
  return parts.commit(operation, (work) =>
    applyPaymentState(work, reference, reading, parts.hostedUrl),
  )
}

/** Stores an attempt and makes its call. Does nothing if the payment is final or another call for it is open. */
export async function beginAttempt(
  parts: PaymentParts,
  operation: Operation,
  intent: PaymentIntent,
  act: Exclude<AttemptOperation, 'create' | 'refund'>,
  request: Record<string, unknown>,
): Promise<PaymentIntent> {
  const begun = await parts.commit(operation, async ({ sql, providerId, now }) => {
    const locked = await lockIntent(sql, providerId, intent.reference)
    if (locked === undefined || isFinal(locked.status)) return undefined
    const open = await findOpenAttempt(sql, providerId, intent.reference)
    if (open !== undefined) return undefined
    const call = { operation: act, request }
    return { locked, attempt: await insertAttempt(sql, providerId, intent.reference, call, now) }
  })
  if (begun === undefined) return intent
  // Another process may have created the payment at the processor since the caller read it. Only the locked row has its id.
  const result = await executeAttempt(parts, operation, begun.locked, begun.attempt)
  return result.kind === 'answered' ? result.intent : intent
}

/**
 * Resolves a call with an unknown outcome. While the processor remembers the key, the same call is repeated. After that, or if the
 * processor only answers with errors, the payment is searched for at the processor. A payment that is not found there was never
 * created, so it is created under a new key.
 */
async function resolveAttempt(
  parts: PaymentParts,
  operation: Operation,
  intent: PaymentIntent,
  attempt: PaymentAttempt,
): Promise<PaymentIntent> {
  if (!cannotRepeat(attempt, parts.now())) {
    const result = await executeAttempt(parts, operation, intent, attempt)
    return result.kind === 'answered' ? result.intent : intent
  }
  return attempt.operation === 'create'
    ? findCreatedPayment(parts, operation, intent, attempt)
    : settleAsLost(parts, operation, intent, attempt)
}

/** Returns whether repeating the call would give no new answer, or could carry it out twice. `realTime` is never that of a test clock. */
export function cannotRepeat(
  { sentAt, sends, message }: Pick<PaymentAttempt, 'sentAt' | 'sends' | 'message'>,
  realTime: Date,
): boolean {
  if (realTime.getTime() - sentAt.getTime() >= keyKnownMs) return true
  return sends > sendsMax && (message?.startsWith('server_error') ?? false)
}

/** The search begins this long before the call was sent, because the processor's clock may differ from ours. */
const searchFromMs = 3_600_000

async function findCreatedPayment(
  parts: PaymentParts,
  operation: Operation,
  intent: PaymentIntent,
  attempt: PaymentAttempt,
): Promise<PaymentIntent> {
  const processor = processorOf(parts, operation.environment)
  const { processorCustomerId: customerId } = intent
  if (customerId === null) throw new Error(`${intent.reference} has nothing to charge`)
  const created = await firstOf(
    processor.findPaymentIntents({
      customerId,
      createdFrom: new Date(attempt.sentAt.getTime() - searchFromMs),
      metadata: { [intentMetadataKey]: intent.reference },
    }),
  )
  const reading = created === undefined ? undefined : await toPaymentReading(processor, created)
  return parts.commit(operation, async (work) => {
    const { sql, providerId, now } = work
    const locked = await lockIntent(sql, providerId, intent.reference)
    if (locked === undefined) return intent
    if (reading !== undefined) {
      await settleAttempt(sql, providerId, attempt, 'done', attempt.message, now)
      return applyPaymentState(work, intent.reference, reading, parts.hostedUrl)
    }
    // If two processes search at once, only one inserts the new attempt.
    const open = await findOpenAttempt(sql, providerId, intent.reference)
    if (open?.number !== attempt.number) return locked
    await settleAttempt(sql, providerId, attempt, 'lost', attempt.message, now)
    const { request } = attempt
    // The next check of the payment carries it out.
    await insertAttempt(sql, providerId, intent.reference, { operation: 'create', request }, now)
    return locked
  })
}

async function firstOf<Item>(items: AsyncIterable<Item>): Promise<Item | undefined> {
  for await (const item of items) return item
  return undefined
}

/**
 * Settles the attempt as lost. The payment's state shows whether the call was result out; if it was not, the caller begins a new
 * attempt.
 */
async function settleAsLost(
  parts: PaymentParts,
  operation: Operation,
  intent: PaymentIntent,
  attempt: PaymentAttempt,
): Promise<PaymentIntent> {
  await parts.commit(operation, ({ sql, providerId, now }) =>
    settleAttempt(sql, providerId, attempt, 'lost', attempt.message, now),
  )
  return intent
}
