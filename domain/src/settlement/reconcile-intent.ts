import { jobOperation } from '../unit-of-work/job-operation.ts'
import type { Operation } from '../unit-of-work/unit-of-work.ts'
import { applyLook } from './apply-look.ts'
import {
  findOpenAttempt,
  insertAttempt,
  settleAttempt,
  type AttemptOperation,
  type PaymentAttempt,
} from '../payments/attempts-repository.ts'
import { carryOut } from './carry-out.ts'
import { findIntent, lockIntent } from '../payments/intents-repository.ts'
import { lookAtPayment, withCard } from './look-at-payment.ts'
import { noteSeller } from './note-seller.ts'
import { intentMetadataKey, type PaymentIntent } from '../payments/payment-intent.ts'
import { paysInvoice } from '../payments/payment-purpose.ts'
import { processorOf, type PaymentParts } from '../payments/payment-parts.ts'
import { payBack } from './pay-back.ts'
import { isFinal } from '../payments/transitions.ts'

/** How long the processor knows a key, less an hour for what is under way. */
const keyKnownMs = 23 * 3_600_000

/** After that many answers of a fault under one key, its answer is that fault for good. */
const sendsMax = 3

/**
 * Finds out what has become of a payment and does what is to be done about it: a call of which nobody knows what came of
 * it is made again or looked up, and what is not wanted any more is withdrawn or paid back. Harmless at any moment and
 * as often as one likes.
 */
export async function reconcileIntent(
  parts: PaymentParts,
  operation: Operation,
  reference: string,
): Promise<PaymentIntent | undefined> {
  const { providerId, environment, now } = operation
  const rows = parts.database.of(providerId).in(environment)
  const { intent, attempt } = await rows.read(async (sql) => ({
    intent: await findIntent(sql, providerId, reference),
    attempt: await findOpenAttempt(sql, providerId, reference),
  }))
  if (intent === undefined) return undefined
  if (attempt?.operation === 'refund' || (isFinal(intent.status) && intent.refundWanted)) {
    return payBack(parts, operation, intent, attempt)
  }
  await noteSeller(parts, operation, intent)
  const found = attempt === undefined ? intent : await resolve(parts, operation, intent, attempt)
  if (isFinal(found.status) && !found.settlementWanted) return found
  const seen = await look(parts, operation, found)
  const isUnwanted = seen.cancelWanted || (seen.expiresAt <= now && isAwaitingCustomer(seen))
  return isUnwanted && !isFinal(seen.status) ? begin(parts, operation, seen, 'cancel', {}) : seen
}

/** Nobody asked for it: a job. */
export function reconciler(providerId: string, environment: Operation['environment'], now: Date) {
  return jobOperation('reconcile-payments', { providerId, environment }, now)
}

function isAwaitingCustomer(intent: PaymentIntent): boolean {
  return !paysInvoice(intent) && intent.status !== 'processing'
}

/** As the processor has it now. Nothing is known where it was never told of. */
async function look(
  parts: PaymentParts,
  operation: Operation,
  intent: PaymentIntent,
): Promise<PaymentIntent> {
  const { processorPaymentId, reference } = intent
  if (processorPaymentId === null) return intent
  const processor = processorOf(parts, operation.environment)
  const seen = await lookAtPayment(processor, processorPaymentId)
  if (seen === undefined) return intent
  return parts.commit(operation, (work) => applyLook(work, reference, seen, parts.hostedUrl))
}

/** Writes down a call, and makes it. What another process is doing to the payment is left to it. */
export async function begin(
  parts: PaymentParts,
  operation: Operation,
  intent: PaymentIntent,
  act: Exclude<AttemptOperation, 'create' | 'refund'>,
  request: Record<string, unknown>,
): Promise<PaymentIntent> {
  const attempt = await parts.commit(operation, async ({ sql, providerId, now }) => {
    const locked = await lockIntent(sql, providerId, intent.reference)
    if (locked === undefined || isFinal(locked.status)) return undefined
    const open = await findOpenAttempt(sql, providerId, intent.reference)
    if (open !== undefined) return undefined
    return insertAttempt(sql, providerId, intent.reference, { operation: act, request }, now)
  })
  if (attempt === undefined) return intent
  const carried = await carryOut(parts, operation, intent, attempt)
  return carried.kind === 'answered' ? carried.intent : intent
}

/**
 * What came of a call that nobody knows the end of. While the processor knows the key the same call is made again; after
 * that, or when it answers with nothing but a fault, only what it has can tell. A payment that it does not have was never
 * made, so it may be made under a new key.
 */
async function resolve(
  parts: PaymentParts,
  operation: Operation,
  intent: PaymentIntent,
  attempt: PaymentAttempt,
): Promise<PaymentIntent> {
  if (!isSpent(attempt, operation.now)) {
    const carried = await carryOut(parts, operation, intent, attempt)
    return carried.kind === 'answered' ? carried.intent : intent
  }
  return attempt.operation === 'create'
    ? findMade(parts, operation, intent, attempt)
    : forget(parts, operation, intent, attempt)
}

/** Whether sending it once more tells nothing, or could have it done twice. */
export function isSpent({ sentAt, sends, message }: PaymentAttempt, now: Date): boolean {
  if (now.getTime() - sentAt.getTime() >= keyKnownMs) return true
  return sends > sendsMax && (message?.startsWith('server_error') ?? false)
}

/** A little before it was sent: the clocks of the processor and ours differ. */
const searchFromMs = 3_600_000

async function findMade(
  parts: PaymentParts,
  operation: Operation,
  intent: PaymentIntent,
  attempt: PaymentAttempt,
): Promise<PaymentIntent> {
  const processor = processorOf(parts, operation.environment)
  const made = await firstOf(
    processor.findPaymentIntents({
      customerId: intent.processorCustomerId,
      createdFrom: new Date(attempt.sentAt.getTime() - searchFromMs),
      metadata: { [intentMetadataKey]: intent.reference },
    }),
  )
  const seen = made === undefined ? undefined : await withCard(processor, made)
  return parts.commit(operation, async (work) => {
    const { sql, providerId, now } = work
    const locked = await lockIntent(sql, providerId, intent.reference)
    if (locked === undefined) return intent
    if (seen !== undefined) {
      await settleAttempt(sql, providerId, attempt, 'done', attempt.message, now)
      return applyLook(work, intent.reference, seen, parts.hostedUrl)
    }
    // Of two who look for it at once, one has it made again.
    const open = await findOpenAttempt(sql, providerId, intent.reference)
    if (open?.number !== attempt.number) return locked
    await settleAttempt(sql, providerId, attempt, 'lost', attempt.message, now)
    const { request } = attempt
    // Carried out by the next look at it.
    await insertAttempt(sql, providerId, intent.reference, { operation: 'create', request }, now)
    return locked
  })
}

async function firstOf<Item>(items: AsyncIterable<Item>): Promise<Item | undefined> {
  for await (const item of items) return item
  return undefined
}

/** The payment itself says whether it was done, and whoever wants it done begins anew. */
async function forget(
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
