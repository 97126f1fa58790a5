import type { TransactionSql } from 'postgres'
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
import { drawEventId } from './draw-event-id.ts'

/** Whose call is being served, where and when. */
export type Operation = {
  readonly providerId: string
  readonly environment: Environment
  readonly now: Date
  readonly actor: Actor
  readonly requestId: string | null
  readonly idempotencyKey: string | null
}

/** An operation inside its transaction. What it changes, tells and has to publish commits together or not at all. */
export type UnitOfWork = Operation & {
  readonly sql: TransactionSql
  /** What to publish once the transaction has committed. */
  readonly publications: PublicationTarget[]
}

/** Of several types: what is right for each of them. */
type ObjectOfEach<Type extends EventType> = (
  Type extends EventType ? (object: EventObject<Type>) => void : never
) extends (object: infer Shared extends JsonObject) => void
  ? Shared
  : never

/** Types that tell what was before have to; the others have nothing to tell of it. */
type Previous<Type extends EventType> = Type extends ChangeType
  ? [previousAttributes: PreviousAttributes<Type>]
  : []

/** Appends a domain event to the outbox. */
export async function recordEvent<Type extends EventType>(
  work: UnitOfWork,
  type: Type,
  object: ObjectOfEach<Type>,
  ...previous: Previous<Type>
): Promise<void> {
  const [previousAttributes]: [JsonObject?] = previous
  await insertOutboxEvents(work.sql, [
    {
      eventId: drawEventId(work.now),
      providerId: work.providerId,
      type,
      livemode: work.environment === 'live',
      object,
      previousAttributes: previousAttributes ?? null,
      requestId: work.requestId,
      idempotencyKey: work.idempotencyKey,
      createdAt: work.now,
    },
  ])
}

/** Says that the hot state's copy of the target is out of date as soon as this unit of work commits. */
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
