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
import { readCustomerTime } from '../test-clocks/customer-time.ts'
import { jobOperation } from '../unit-of-work/job-operation.ts'
import type { Operation, UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { applyDispute } from './apply-dispute.ts'
import { applyPayout } from './apply-payout.ts'
import { applyRefund } from './apply-refund.ts'
import { applySetup } from './apply-setup.ts'
import {
  claimEvents,
  postponeEvents,
  settleEvents,
  type InboxEvent,
} from '../payments/inbox-repository.ts'
import { locateIntent, type LocatedIntent } from '../payments/intents-repository.ts'
import { readPayment } from './read-payment.ts'
import { applyPaymentState } from './apply-payment-state.ts'
import { ensureSellerName } from './ensure-seller-name.ts'
import { intentMetadataKey } from '../payments/payment-intent.ts'
import { processorOf, type PaymentParts, PaymentUnknownError } from '../payments/payment-parts.ts'

export type PaymentJobParts = PaymentParts & {
  /** Can read the rows of all providers, because an event names no provider. */
  readonly everyone: Database
  readonly logger: Logger
}

/** Events that one process claims at once. Each needs one or two calls to the processor. */
const eventsPerRoundMax = 50

/** Another process claims the events of a dead process after this time. */
const claimedMs = 120_000

/**
 * Applies the events in the inbox. An event only names an object: the object is read from the processor and its current state is
 * applied, so order and repetition do not matter. Returns whether there may be more.
 *
 * An event is settled after its effects are committed. A crash in between applies it again, which then changes nothing.
 */
export async function processInbox(
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
      await applyProcessorObject(parts, environment, first!)
      await settleEvents(pool, ids, parts.now())
    } catch (error) {
      const level = isNoAnswer(error) ? 'warn' : 'error'
      parts.logger[level](
        { err: error, event: first },
        'could not apply an event of the payment processor; it is retried later',
      )
      const dueAt = new Date(parts.now().getTime() + retryPauseMs(first!.tries))
      await postponeEvents(pool, ids, dueAt, error instanceof Error ? error.message : String(error))
    }
  }
  return events.length === eventsPerRoundMax
}

/** The processor did not answer, and the next try will find the outcome. */
function isNoAnswer(error: unknown): boolean {
  return error instanceof PaymentProcessorUnavailableError || error instanceof PaymentUnknownError
}

/**
 * Pause before the next try: 1 second, then doubled each time, up to 1 hour. Events are retried without limit, because money
 * depends on them.
 */
function retryPauseMs(tries: number): number {
  return Math.min(1_000 * 2 ** Math.min(tries - 1, 12), 3_600_000)
}

/** Groups events by object, so that each object is read once. */
function groupByObject(events: readonly InboxEvent[]): Map<string, InboxEvent[]> {
  const groups = new Map<string, InboxEvent[]>()
  for (const event of events) {
    const key = `${event.objectKind} ${event.objectId}`
    groups.set(key, [...(groups.get(key) ?? []), event])
  }
  return groups
}

/** Reads an object from the processor and applies its current state. Running it again at any time is harmless. */
export async function applyProcessorObject(
  parts: PaymentJobParts,
  environment: Environment,
  { objectKind, objectId }: Pick<InboxEvent, 'objectKind' | 'objectId'>,
): Promise<void> {
  const retrieve = <Kind extends ProcessorObjectKind>(kind: Kind) =>
    processorOf(parts, environment).retrieve(kind, objectId)
  switch (objectKind) {
    case 'payment_intent':
      return applyPayment(parts, environment, objectId)
    case 'charge': {
      const charge = await retrieve(objectKind)
      if (charge?.paymentIntentId === undefined) return
      return applyPayment(parts, environment, charge.paymentIntentId)
    }
    case 'setup_intent':
      await applySetup(parts, environment, objectId)
      return
    case 'refund': {
      const refund = await retrieve(objectKind)
      if (refund === undefined) return
      return applyToPayment(parts, environment, refund, (work, intentRef) =>
        applyRefund(work, intentRef, refund),
      )
    }
    case 'dispute': {
      const dispute = await retrieve(objectKind)
      if (dispute === undefined) return
      return applyToPayment(parts, environment, dispute, (work, intentRef) =>
        applyDispute(work, intentRef, dispute),
      )
    }
    case 'payout': {
      const payout = await retrieve(objectKind)
      return payout === undefined ? undefined : applyReportedPayout(parts, environment, payout)
    }
  }
}

/**
 * Applies the state of a payment. The payment is found by the reference in its metadata, so it is also found if the answer of its
 * creation was lost.
 */
async function applyPayment(
  parts: PaymentJobParts,
  environment: Environment,
  processorPaymentId: string,
): Promise<void> {
  const reading = await readPayment(processorOf(parts, environment), processorPaymentId)
  if (reading === undefined) return
  const reference = reading.payment.metadata[intentMetadataKey]
  // The payment belongs to another user of the same processor account.
  if (reference === undefined) return
  const intent = await locateIntent(parts.everyone.in(environment), { reference })
  if (intent === undefined) return
  const operation = await operationOfCustomer(parts, environment, intent)
  await ensureSellerName(parts, operation, intent)
  await parts.commit(operation, (work) =>
    applyPaymentState(work, intent.reference, reading, parts.hostedUrl),
  )
}

/** Applies the payment before its refund or dispute, in whichever order the processor reports them. */
async function applyToPayment(
  parts: PaymentJobParts,
  environment: Environment,
  { paymentIntentId: processorPaymentId }: Pick<Refund | Dispute, 'paymentIntentId'>,
  apply: (work: UnitOfWork, intentRef: string) => Promise<void>,
): Promise<void> {
  if (processorPaymentId === undefined) return
  await applyPayment(parts, environment, processorPaymentId)
  const intent = await locateIntent(parts.everyone.in(environment), { processorPaymentId })
  if (intent === undefined) return
  const operation = await operationOfCustomer(parts, environment, intent)
  await parts.commit(operation, (work) => apply(work, intent.reference))
}

/**
 * Applies a payout. Payouts belong to the processor account of the installation. The only provider of an installation gets them. If
 * several providers share the account, payouts belong to the operator.
 */
async function applyReportedPayout(
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

/** Returns the operation at the time of the payment's customer. */
async function operationOfCustomer(
  parts: PaymentJobParts,
  environment: Environment,
  { providerId, customerRef }: Pick<LocatedIntent, 'providerId' | 'customerRef'>,
): Promise<Operation> {
  const name = { providerId, customerRef }
  const now = await readCustomerTime(parts.database, environment, name, parts.now())
  return jobOperation('processor-events', { providerId, environment }, now)
}

function operationOf(
  { now }: PaymentJobParts,
  environment: Environment,
  providerId: string,
): Operation {
  return jobOperation('processor-events', { providerId, environment }, now())
}
