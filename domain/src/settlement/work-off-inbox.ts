import type { Database } from '@tollgate/platform/database/database'
import type {
  Dispute,
  Payout,
  ProcessorObjectKind,
  Refund,
} from '@tollgate/platform/payments/payment-objects'
import { PaymentProcessorUnavailableError } from '@tollgate/platform/payments/payment-processor'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Environment } from '@tollgate/schemas/environment'
import { findSoleProvider } from '../providers/repository.ts'
import { jobOperation } from '../unit-of-work/job-operation.ts'
import type { Operation } from '../unit-of-work/unit-of-work.ts'
import { applyDispute } from './apply-dispute.ts'
import { applyPayout } from './apply-payout.ts'
import { applyRefund } from './apply-refund.ts'
import { applySetup } from './apply-setup.ts'
import {
  claimEvents,
  putOffEvents,
  settleEvents,
  type InboxEvent,
} from '../payments/inbox-repository.ts'
import { findIntentName, type IntentName } from '../payments/intents-repository.ts'
import { lookAtPayment } from './look-at-payment.ts'
import { applyLook } from './apply-look.ts'
import { noteSeller } from './note-seller.ts'
import { intentMetadataKey } from '../payments/payment-intent.ts'
import { processorOf, type PaymentParts } from '../payments/payment-parts.ts'
import { PaymentUnknownError } from '../payments/payment-unknown-error.ts'

export type PaymentJobParts = PaymentParts & {
  /** Sees the rows of all providers: an event names none. */
  readonly everyone: Database
  readonly now: () => Date
  readonly logger: Logger
}

/** Claimed at once by one process: each is a call or two to the processor. */
const eventsPerRoundMax = 50

/** After that a dead process's events are somebody else's. */
const claimedMs = 120_000

/**
 * Works off what the processor has told of. An event only says where to look: the object is fetched and what it is now is
 * applied, so that order and repetition do not matter. Returns whether there may be more.
 *
 * An event is settled after what it tells of is committed. A crash in between has it looked at once more, which changes
 * nothing then.
 */
export async function workOffInbox(
  parts: PaymentJobParts,
  environment: Environment,
): Promise<boolean> {
  const pool = parts.everyone.in(environment)
  const now = parts.now()
  const againAt = new Date(now.getTime() + claimedMs)
  const events = await claimEvents(pool, now, againAt, eventsPerRoundMax)
  for (const [, ofObject] of groupByObject(events)) {
    const ids = ofObject.map(({ eventId }) => eventId)
    const [first] = ofObject
    try {
      await followObject(parts, environment, first!)
      await settleEvents(pool, ids, parts.now())
    } catch (error) {
      const level = isNoAnswer(error) ? 'warn' : 'error'
      parts.logger[level]({ err: error, event: first }, 'an event of the processor waits')
      const dueAt = new Date(parts.now().getTime() + pauseMs(first!.tries))
      await putOffEvents(pool, ids, dueAt, error instanceof Error ? error.message : String(error))
    }
  }
  return events.length === eventsPerRoundMax
}

/** The processor is away, and the next look finds out what came of it. */
function isNoAnswer(error: unknown): boolean {
  return error instanceof PaymentProcessorUnavailableError || error instanceof PaymentUnknownError
}

/** A second, then twice as long each time, up to an hour: it is never given up, since money hangs on it. */
function pauseMs(tries: number): number {
  return Math.min(1_000 * 2 ** Math.min(tries - 1, 12), 3_600_000)
}

/** Several events of one object ask for one look. */
function groupByObject(events: readonly InboxEvent[]): Map<string, InboxEvent[]> {
  const groups = new Map<string, InboxEvent[]>()
  for (const event of events) {
    const key = `${event.objectKind} ${event.objectId}`
    groups.set(key, [...(groups.get(key) ?? []), event])
  }
  return groups
}

/** Fetches an object of the processor and applies what it is now. Harmless at any moment and as often as one likes. */
export async function followObject(
  parts: PaymentJobParts,
  environment: Environment,
  { objectKind, objectId }: Pick<InboxEvent, 'objectKind' | 'objectId'>,
): Promise<void> {
  const retrieve = <Kind extends ProcessorObjectKind>(kind: Kind) =>
    processorOf(parts, environment).retrieve(kind, objectId)
  switch (objectKind) {
    case 'payment_intent':
      return followPayment(parts, environment, objectId)
    case 'charge': {
      const charge = await retrieve(objectKind)
      if (charge?.paymentIntentId === undefined) return
      return followPayment(parts, environment, charge.paymentIntentId)
    }
    case 'setup_intent':
      await applySetup(parts, environment, objectId)
      return
    case 'refund': {
      const refund = await retrieve(objectKind)
      return refund === undefined ? undefined : followRefund(parts, environment, refund)
    }
    case 'dispute': {
      const dispute = await retrieve(objectKind)
      return dispute === undefined ? undefined : followDispute(parts, environment, dispute)
    }
    case 'payout': {
      const payout = await retrieve(objectKind)
      return payout === undefined ? undefined : followPayout(parts, environment, payout)
    }
  }
}

/** Also one of which we only know that we wanted to make it: it says itself which one it is. */
async function followPayment(
  parts: PaymentJobParts,
  environment: Environment,
  processorPaymentId: string,
): Promise<void> {
  const look = await lookAtPayment(processorOf(parts, environment), processorPaymentId)
  if (look === undefined) return
  const reference = look.payment.metadata[intentMetadataKey]
  // Somebody else's, who uses the same account.
  if (reference === undefined) return
  const name = await findIntentName(parts.everyone.in(environment), { reference })
  if (name === undefined) return
  const operation = operationOf(parts, environment, name.providerId)
  await noteSeller(parts, operation, name)
  await parts.commit(operation, (work) => applyLook(work, name.reference, look, parts.hostedUrl))
}

async function followRefund(
  parts: PaymentJobParts,
  environment: Environment,
  refund: Refund,
): Promise<void> {
  const name = await requirePaid(parts, environment, refund.paymentIntentId)
  if (name === undefined) return
  await parts.commit(operationOf(parts, environment, name.providerId), (work) =>
    applyRefund(work, name.reference, refund),
  )
}

async function followDispute(
  parts: PaymentJobParts,
  environment: Environment,
  dispute: Dispute,
): Promise<void> {
  const name = await requirePaid(parts, environment, dispute.paymentIntentId)
  if (name === undefined) return
  await parts.commit(operationOf(parts, environment, name.providerId), (work) =>
    applyDispute(work, name.reference, dispute),
  )
}

/** What was paid is known to be paid before it is told that it was paid back, whichever was told of first. */
async function requirePaid(
  parts: PaymentJobParts,
  environment: Environment,
  processorPaymentId: string | undefined,
): Promise<IntentName | undefined> {
  if (processorPaymentId === undefined) return undefined
  await followPayment(parts, environment, processorPaymentId)
  return findIntentName(parts.everyone.in(environment), { processorPaymentId })
}

/**
 * Payouts come from the account of the installation. They are told to a provider who is alone on it; where several share
 * it, what reaches the bank is the operator's, and none of theirs.
 */
async function followPayout(
  parts: PaymentJobParts,
  environment: Environment,
  payout: Payout,
): Promise<void> {
  const providerId = await findSoleProvider(parts.everyone.control, environment)
  if (providerId === undefined) return
  await parts.commit(operationOf(parts, environment, providerId), (work) =>
    applyPayout(work, payout),
  )
}

function operationOf(
  { now }: PaymentJobParts,
  environment: Environment,
  providerId: string,
): Operation {
  return jobOperation('processor-events', { providerId, environment }, now())
}
