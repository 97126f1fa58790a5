import type { TransactionSql } from 'postgres'
import type { Environment } from '@tollgate/schemas/environment'
import type { JsonObject } from '@tollgate/schemas/json-object'
import type { Actor } from '../audit/actor.ts'
import { insertOutboxEvent } from '../outbox/repository.ts'
import {
  insertPublication,
  type PublicationKind,
  type PublicationTarget,
} from '../publications/repository.ts'
import { drawReference } from './draw-reference.ts'

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

/** Appends a domain event to the outbox. */
export async function recordEvent(
  work: UnitOfWork,
  type: string,
  object: JsonObject,
  previousAttributes: JsonObject | null = null,
): Promise<void> {
  await insertOutboxEvent(work.sql, {
    eventId: drawReference('webhookEvent'),
    providerId: work.providerId,
    type,
    livemode: work.environment === 'live',
    object,
    previousAttributes,
    requestId: work.requestId,
    idempotencyKey: work.idempotencyKey,
    createdAt: work.now,
  })
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
