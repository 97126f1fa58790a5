import { z } from 'zod'
import { missing, StripeApiError } from '../errors.ts'
import { ok, type Answer } from '../answer.ts'
import type { Faults } from '../api/faults.ts'
import { closeDispute, openDispute } from '../objects/disputes.ts'
import { authenticatePayment, settlePayment } from '../objects/payment-intents.ts'
import { failPayout, movePayout } from '../objects/payouts.ts'
import { present } from '../objects/present.ts'
import type { Kind } from '../store/records.ts'
import { endRefund } from '../objects/refunds.ts'
import { authenticateSetup } from '../objects/setup-intents.ts'
import { tokenNames } from '../objects/test-cards.ts'
import { runDueActions } from '../run-due-actions.ts'
import type { KeyValueStore } from '../store/key-value-store.ts'
import type { SimulatedClock } from '../store/simulated-clock.ts'
import { UnitOfWork } from '../store/unit-of-work.ts'
import type { WebhookSender } from '../webhooks/send-webhooks.ts'

export type AdminParts = {
  readonly store: KeyValueStore
  readonly clock: SimulatedClock
  readonly faults: Faults
  readonly webhooks: WebhookSender
}

const clockChange = z.strictObject({
  /** Unix seconds. */
  now: z.int().optional(),
  advanceSeconds: z.int().min(0).optional(),
  isHeld: z.boolean().default(false),
})
const fault = z.strictObject({
  kind: z.enum([
    'error_before',
    'error_after',
    'reset_before',
    'reset_after',
    'hang_before',
    'hang_after',
    'rate_limit',
    'slow',
  ]),
  method: z.enum(['GET', 'POST', 'DELETE']).optional(),
  path: z.string().optional(),
  times: z.int().min(1).default(1),
  delayMs: z.int().min(0).max(60_000).optional(),
})
const webhookSettings = z
  .strictObject({
    isHeld: z.boolean(),
    delayMs: z.int().min(0),
    order: z.enum(['created', 'reversed', 'shuffled']),
    copies: z.int().min(1).max(10),
    dropNext: z.int().min(0),
  })
  .partial()

/** An event of one object that is not caused by the API: a decision of the bank or an action of the customer. */
type ExternalEvent = {
  readonly path: string
  readonly kind: Kind
  readonly apply: (work: UnitOfWork, id: string, body: unknown) => Answer | object | void
}

const accepted = z.strictObject({ isAccepted: z.boolean() })
const externalEvents: readonly ExternalEvent[] = [
  {
    path: 'payment_intents/:id/authenticate',
    kind: 'payment_intent',
    apply: (work, id, body) => void authenticatePayment(work, id, accepted.parse(body).isAccepted),
  },
  {
    path: 'payment_intents/:id/settle',
    kind: 'payment_intent',
    apply: (work, id, body) =>
      settlePayment(work, id, z.strictObject({ isPaid: z.boolean() }).parse(body).isPaid),
  },
  {
    path: 'setup_intents/:id/authenticate',
    kind: 'setup_intent',
    apply: (work, id, body) => void authenticateSetup(work, id, accepted.parse(body).isAccepted),
  },
  {
    path: 'charges/:id/dispute',
    kind: 'charge',
    apply: (work, id, body) => {
      const wanted = z
        .strictObject({
          reason: z.string().default('fraudulent'),
          isInquiry: z.boolean().default(false),
        })
        .parse(body)
      return openDispute(work, id, wanted)
    },
  },
  {
    path: 'disputes/:id/close',
    kind: 'dispute',
    apply: (work, id, body) => {
      const { ending } = z
        .strictObject({ ending: z.enum(['won', 'lost', 'warning_closed']) })
        .parse(body)
      return closeDispute(work, id, ending)
    },
  },
  {
    path: 'refunds/:id/end',
    kind: 'refund',
    apply: (work, id, body) => {
      const { status } = z.strictObject({ status: z.enum(['succeeded', 'failed']) }).parse(body)
      return endRefund(work, id, status)
    },
  },
  {
    path: 'payouts/:id/move',
    kind: 'payout',
    apply: (work, id, body) => {
      const { status } = z
        .strictObject({ status: z.enum(['in_transit', 'paid', 'failed']) })
        .parse(body)
      return status === 'failed' ? failPayout(work, id) : movePayout(work, id, status)
    },
  },
  {
    path: 'events/:id/resend',
    kind: 'event',
    apply: (work, id) => {
      for (const { id: endpoint } of work.list('webhook_endpoint')) {
        work.scheduleDelivery({ event: id, endpoint, attempts: 0 })
      }
    },
  },
]

/** One operation under `/_simulator/`. `answer` throws a ZodError for an invalid body. */
export type AdminRoute = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Path below the prefix. `:id` matches one segment. */
  readonly path: string
  readonly answer: (parts: AdminParts, body: unknown, id: string) => Answer | Promise<Answer>
}

export const adminRoutes: readonly AdminRoute[] = [
  { method: 'GET', path: 'state', answer: (parts) => ok(stateOf(parts)) },
  {
    method: 'POST',
    path: 'clock',
    answer: (parts, body) => {
      moveClock(parts, clockChange.parse(body))
      return ok({ now: Math.floor(parts.clock.now() / 1_000) })
    },
  },
  {
    method: 'POST',
    path: 'faults',
    answer: ({ faults }, body) => {
      faults.arm(fault.parse(body))
      return ok({ faults: faults.list() })
    },
  },
  {
    method: 'DELETE',
    path: 'faults',
    answer: ({ faults }) => {
      faults.clear()
      return ok({ faults: [] })
    },
  },
  {
    method: 'POST',
    path: 'webhooks',
    answer: ({ webhooks }, body) => {
      webhooks.settings = { ...webhooks.settings, ...withoutUndefined(webhookSettings.parse(body)) }
      return ok(webhooks.settings)
    },
  },
  {
    method: 'POST',
    path: 'webhooks/flush',
    answer: async ({ webhooks }) => ok({ sent: await webhooks.flush() }),
  },
  ...externalEvents.map((event): AdminRoute => ({
    method: 'POST',
    path: event.path,
    answer: (parts, body, id) => applyExternalEvent(parts, event, id, body),
  })),
]

function stateOf({ clock, faults, webhooks }: AdminParts): object {
  return {
    now: Math.floor(clock.now() / 1_000),
    faults: faults.list(),
    webhooks: webhooks.settings,
    paymentMethods: tokenNames,
  }
}

/** Moves the clock. All actions that become due by then are executed before the answer. */
function moveClock({ clock, store }: AdminParts, change: z.infer<typeof clockChange>): void {
  const { now, advanceSeconds = 0, isHeld } = change
  try {
    if (now === undefined) clock.moveBy(advanceSeconds * 1_000, isHeld)
    else clock.moveTo((now + advanceSeconds) * 1_000, isHeld)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new StripeApiError(400, { type: 'invalid_request_error', message: error.message })
  }
  runDueActions(store, clock.now())
}

function applyExternalEvent(
  { store, clock }: AdminParts,
  { kind, apply }: ExternalEvent,
  id: string,
  body: unknown,
): Answer {
  for (const mode of ['test', 'live'] as const) {
    const work = new UnitOfWork({ store, mode, nowMs: clock.now() })
    if (work.find(kind, id) === undefined) continue
    const result = apply(work, id, body)
    const shown = present(result ?? work.require(kind, id))
    work.commit()
    return ok(shown)
  }
  throw missing(kind, id)
}

function withoutUndefined<Fields extends object>(
  fields: Fields,
): {
  [Name in keyof Fields]?: Exclude<Fields[Name], undefined>
} {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]?: Exclude<Fields[Name], undefined>
  }
}
