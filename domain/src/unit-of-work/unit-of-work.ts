import type { TransactionSql } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import type { Environment } from '@tollgate/schemas/environment'
import type {
  ChangeType,
  EventObject,
  EventType,
  PreviousAttributes,
} from '@tollgate/schemas/event-types'
import type { JsonObject } from '@tollgate/schemas/json-object'
import type { Actor } from '../audit/actor.ts'
import { insertOutboxEvents } from '../outbox/repository.ts'
import {
  insertPublication,
  type PublicationKind,
  type PublicationTarget,
} from '../publications/repository.ts'
import { generateEventId } from './generate-event-id.ts'
import type { OutsideQuestion } from './outside-question.ts'

/** The context of a call: its provider, environment, time and actor. */
export type Operation = {
  readonly providerId: string
  readonly environment: Environment
  readonly now: Date
  readonly actor: Actor
  readonly requestId: string | null
  readonly idempotencyKey: string | null
}

/** An operation inside its transaction. Its changes, events and publications commit together or not at all. */
export type UnitOfWork = Operation & {
  readonly sql: TransactionSql
  /** Targets to publish after the transaction has committed. */
  readonly publications: PublicationTarget[]
  /** The answered questions of earlier attempts. */
  readonly asked: readonly OutsideQuestion[]
}

/** The context of a function that reads rows and decides at the instant `now`. Its transaction may be one that only reads. */
export type ReadingAt = Pick<Operation, 'providerId' | 'now'> & {
  readonly sql: Queryable
  readonly environment?: Environment
  /** The answered questions of earlier attempts. Without them or the environment, nothing is asked, and the result is an estimate. */
  readonly asked?: readonly OutsideQuestion[]
}

/** For a union of event types: an object that is valid for each of them. */
type ObjectOfEach<Type extends EventType> = (
  Type extends EventType ? (object: EventObject<Type>) => void : never
) extends (object: infer Shared extends JsonObject) => void
  ? Shared
  : never

/** Event types with previous attributes require them, and other types must not have them. */
type Previous<Type extends EventType> = Type extends ChangeType
  ? [previousAttributes: PreviousAttributes<Type>]
  : []

/** Appends a domain event to the outbox. */
export function recordEvent<Type extends EventType>(
  work: UnitOfWork,
  type: Type,
  object: ObjectOfEach<Type>,
  ...previous: Previous<Type>
): Promise<void> {
  const [previousAttributes]: [JsonObject?] = previous
  return appendEvent(work, type, object, { previousAttributes, sendsNoEmail: false })
}

/** Appends a domain event that leads to no email, because the customer asked for the change or has seen it. */
export function recordEventWithoutEmail<Type extends EventType>(
  work: UnitOfWork,
  type: Type,
  object: ObjectOfEach<Type>,
  ...previous: Previous<Type>
): Promise<void> {
  const [previousAttributes]: [JsonObject?] = previous
  return appendEvent(work, type, object, { previousAttributes, sendsNoEmail: true })
}

async function appendEvent(
  work: UnitOfWork,
  type: EventType,
  object: JsonObject,
  {
    previousAttributes,
    sendsNoEmail,
  }: { readonly previousAttributes: JsonObject | undefined; readonly sendsNoEmail: boolean },
): Promise<void> {
  await insertOutboxEvents(work.sql, [
    {
      eventId: generateEventId(work.now),
      providerId: work.providerId,
      type,
      livemode: work.environment === 'live',
      object,
      previousAttributes: previousAttributes ?? null,
      requestId: work.requestId,
      idempotencyKey: work.idempotencyKey,
      createdAt: work.now,
      sendsNoEmail,
    },
  ])
}

/** Queues the publication of a target, whose copy in hot state is outdated once this unit of work commits. */
export async function queuePublication(
  work: UnitOfWork,
  kind: PublicationKind,
  target: string,
): Promise<void> {
  if (work.publications.some((each) => each.kind === kind && each.target === target)) return
  const publication = { kind, providerId: work.providerId, target }
  await insertPublication(work.sql, publication)
  work.publications.push(publication)
}
