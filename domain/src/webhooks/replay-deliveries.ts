import { generateReference } from '../unit-of-work/generate-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { lockOutboxEvent } from '../outbox/delete-old-events.ts'
import { findDelivery, lockDelivery } from './deliveries-repository.ts'
import type { WebhookDelivery } from './delivery.ts'
import { notifyDeliveriesQueued } from '../outbox/dispatcher-channel.ts'
import { findEndpoint, lockEndpoint } from './endpoints-repository.ts'
import {
  countWaitingOfEndpoint,
  queueNextOfReplay,
  queueReplayedDelivery,
} from './queue-replayed.ts'
import type { WebhookReplay } from './replay.ts'
import {
  endReplay,
  findRunningReplay,
  insertReplay,
  lockDueReplay,
  postponeReplay,
} from './replays-repository.ts'

export type ReplayOneOutcome =
  | { readonly kind: 'queued'; readonly delivery: WebhookDelivery }
  | { readonly kind: 'not-found' }
  /** The delivery has not been sent yet. */
  | { readonly kind: 'waiting' }
  | { readonly kind: 'endpoint-deleted' }

/**
 * Queues a new delivery of the same event, whatever the outcome of the first one. For a disabled endpoint it is held until that is
 * enabled.
 */
export async function replayDelivery(
  work: UnitOfWork,
  deliveryRef: string,
): Promise<ReplayOneOutcome> {
  const { sql, providerId, now } = work
  const delivery = await lockDelivery(sql, providerId, deliveryRef)
  if (delivery === undefined) return { kind: 'not-found' }
  const { endpointRef, eventId, state } = delivery
  const endpoint = await findEndpoint(sql, providerId, endpointRef)
  if (endpoint === undefined) return { kind: 'endpoint-deleted' }
  // The event was deleted at this moment, together with its last delivery.
  if (!(await lockOutboxEvent(sql, providerId, eventId))) return { kind: 'not-found' }
  if (state === 'pending' || state === 'held') return { kind: 'waiting' }
  const replay = newReplay(work, { endpointRef, deliveryRef, onlyFailed: false, madeBefore: now })
  await insertReplay(sql, { ...replay, state: 'finished', queued: 1, finishedAt: now })
  const reference = await queueReplayedDelivery(sql, replay.reference, delivery, now)
  await notifyDeliveriesQueued(sql)
  return { kind: 'queued', delivery: (await findDelivery(sql, providerId, reference))! }
}

export type ReplayedRange = Pick<WebhookReplay, 'endpointRef' | 'onlyFailed' | 'madeFrom'> & {
  /** End of the time range; null for now. */
  readonly madeBefore: Date | null
}

export type ReplayRangeOutcome =
  | { readonly kind: 'begun'; readonly replay: WebhookReplay }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'running'; readonly replayRef: string }

/**
 * Starts a replay of an endpoint's deliveries in a time range. They are queued in steps. Deliveries created by the replay itself
 * are not included.
 */
export async function beginReplay(
  work: UnitOfWork,
  { endpointRef, onlyFailed, madeFrom, madeBefore }: ReplayedRange,
): Promise<ReplayRangeOutcome> {
  const { sql, providerId, now } = work
  // The lock makes the second of two concurrent replays find the first one.
  if ((await lockEndpoint(sql, providerId, endpointRef)) === undefined) return { kind: 'not-found' }
  const running = await findRunningReplay(sql, providerId, endpointRef)
  if (running !== undefined) return { kind: 'running', replayRef: running.reference }
  const replay: WebhookReplay = {
    ...newReplay(work, {
      endpointRef,
      deliveryRef: null,
      onlyFailed,
      madeBefore: madeBefore !== null && madeBefore < now ? madeBefore : now,
    }),
    madeFrom,
  }
  await insertReplay(sql, replay)
  return { kind: 'begun', replay }
}

function newReplay(
  { providerId, now }: UnitOfWork,
  of: Pick<WebhookReplay, 'endpointRef' | 'deliveryRef' | 'onlyFailed' | 'madeBefore'>,
): WebhookReplay {
  return {
    ...of,
    providerId,
    reference: generateReference('webhookReplay'),
    madeFrom: null,
    state: 'running',
    queued: 0,
    createdAt: now,
    finishedAt: null,
  }
}

export type ReplayPace = {
  readonly intervalMs: number
  /** Maximum number of deliveries that are queued in one interval. */
  readonly deliveriesMax: number
  /** No more are queued while this many deliveries wait at the endpoint, so that new events do not wait behind the whole replay. */
  readonly waitingMax: number
}

/** Queues the next deliveries of a running replay, or ends it. Other processes skip the replay while this one holds its lock. */
export async function continueReplay(
  work: UnitOfWork,
  replayRef: string,
  { intervalMs, deliveriesMax, waitingMax }: ReplayPace,
): Promise<void> {
  const { sql, providerId, now } = work
  const replay = await lockDueReplay(sql, { providerId, reference: replayRef }, now)
  if (replay === undefined) return
  const { endpointRef } = replay
  const endpoint = await findEndpoint(sql, providerId, endpointRef)
  if (endpoint === undefined) return void (await endReplay(sql, replay, 'stopped', now))
  const dueAt = new Date(now.getTime() + intervalMs)
  const waiting = await countWaitingOfEndpoint(sql, endpointRef, waitingMax)
  const room = Math.min(deliveriesMax, waitingMax - waiting)
  if (endpoint.status !== 'enabled' || room === 0) return postponeReplay(sql, replay, dueAt)
  const passed = await queueNextOfReplay(sql, replay, room, now, dueAt)
  if (passed < room) await endReplay(sql, replay, 'finished', now)
  if (passed > 0) await notifyDeliveriesQueued(sql)
}
