import { drawReference } from '../unit-of-work/draw-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { holdOutboxEvent } from '../outbox/delete-old-events.ts'
import { findDelivery, holdDelivery } from './deliveries-repository.ts'
import type { WebhookDelivery } from './delivery.ts'
import { tellOfDeliveries } from '../outbox/dispatcher-channel.ts'
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
  /** It is not sent yet. */
  | { readonly kind: 'waiting' }
  | { readonly kind: 'endpoint-deleted' }

/** Has one delivery sent anew, whatever came of it. One to a disabled endpoint waits until that is enabled. */
export async function replayDelivery(
  work: UnitOfWork,
  deliveryRef: string,
): Promise<ReplayOneOutcome> {
  const { sql, providerId, now } = work
  const delivery = await holdDelivery(sql, providerId, deliveryRef)
  if (delivery === undefined) return { kind: 'not-found' }
  const { endpointRef, eventId, state } = delivery
  const endpoint = await findEndpoint(sql, providerId, endpointRef)
  if (endpoint === undefined) return { kind: 'endpoint-deleted' }
  // The last trace of both goes at this moment.
  if (!(await holdOutboxEvent(sql, providerId, eventId))) return { kind: 'not-found' }
  if (state === 'pending' || state === 'held') return { kind: 'waiting' }
  const replay = newReplay(work, { endpointRef, deliveryRef, onlyFailed: false, madeBefore: now })
  await insertReplay(sql, { ...replay, state: 'finished', queued: 1, finishedAt: now })
  const reference = await queueReplayedDelivery(sql, replay.reference, delivery, now)
  await tellOfDeliveries(sql)
  return { kind: 'queued', delivery: (await findDelivery(sql, providerId, reference))! }
}

export type ReplayedRange = Pick<WebhookReplay, 'endpointRef' | 'onlyFailed' | 'madeFrom'> & {
  /** Null: until now. */
  readonly madeBefore: Date | null
}

export type ReplayRangeOutcome =
  | { readonly kind: 'begun'; readonly replay: WebhookReplay }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'running'; readonly replayRef: string }

/** Has what an endpoint was sent in a time sent anew, little by little. What it makes itself is never among it. */
export async function beginReplay(
  work: UnitOfWork,
  { endpointRef, onlyFailed, madeFrom, madeBefore }: ReplayedRange,
): Promise<ReplayRangeOutcome> {
  const { sql, providerId, now } = work
  // One of two that are begun at once finds the other.
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
    reference: drawReference('webhookReplay'),
    madeFrom: null,
    state: 'running',
    queued: 0,
    createdAt: now,
    finishedAt: null,
  }
}

export type ReplayPace = {
  readonly intervalMs: number
  /** That are queued in one interval. */
  readonly deliveriesMax: number
  /** No more are queued while so many wait at the endpoint: what happens meanwhile is not to wait behind all of them. */
  readonly waitingMax: number
}

/** Queues the next of a running replay, or ends it. Whoever else wants to at the same time leaves it alone. */
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
  if (passed > 0) await tellOfDeliveries(sql)
}
