import type { TransactionSql } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import { selectPage, type PageRange } from '../postgres/select-page.ts'
import type { ReplayState, WebhookReplay } from './replay.ts'

type ReplayRow = {
  provider_id: string
  reference: string
  endpoint_ref: string
  delivery_ref: string | null
  only_failed: boolean
  made_from: Date | null
  made_before: Date
  state: ReplayState
  queued: number
  created_at: Date
  finished_at: Date | null
}

export async function insertReplay(sql: Queryable, replay: WebhookReplay): Promise<void> {
  await sql`
    insert into webhook_replays
      (provider_id, reference, endpoint_ref, delivery_ref, only_failed, made_from, made_before, state, queued, due_at,
       created_at, finished_at)
    values (${replay.providerId}, ${replay.reference}, ${replay.endpointRef}, ${replay.deliveryRef},
      ${replay.onlyFailed}, ${replay.madeFrom}, ${replay.madeBefore}, ${replay.state}, ${replay.queued},
      ${replay.createdAt}, ${replay.createdAt}, ${replay.finishedAt})`
}

/** Returns a page of replays, newest first. */
export async function listReplays(
  sql: Queryable,
  providerId: string,
  page: PageRange,
): Promise<{ readonly replays: readonly WebhookReplay[]; readonly total: number }> {
  const { rows, total } = await selectPage<ReplayRow>(
    sql,
    sql`from webhook_replays where provider_id = ${providerId}`,
    sql`created_at desc, reference`,
    page,
  )
  return { replays: rows.map(fromRow), total }
}

export async function findReplay(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<WebhookReplay | undefined> {
  const [row] = await sql<ReplayRow[]>`
    select * from webhook_replays where provider_id = ${providerId} and reference = ${reference}`
  return row === undefined ? undefined : fromRow(row)
}

export async function findRunningReplay(
  sql: Queryable,
  providerId: string,
  endpointRef: string,
): Promise<WebhookReplay | undefined> {
  const [row] = await sql<ReplayRow[]>`
    select * from webhook_replays
    where provider_id = ${providerId} and endpoint_ref = ${endpointRef} and state = 'running'`
  return row === undefined ? undefined : fromRow(row)
}

/** Ends a running replay. Returns the replay in its new state, undefined if it does not exist. */
export async function endReplay(
  sql: Queryable,
  { providerId, reference }: Pick<WebhookReplay, 'providerId' | 'reference'>,
  state: Exclude<ReplayState, 'running'>,
  now: Date,
): Promise<WebhookReplay | undefined> {
  await sql`
    update webhook_replays set state = ${state}, finished_at = ${now}
    where provider_id = ${providerId} and reference = ${reference} and state = 'running'`
  return findReplay(sql, providerId, reference)
}

export type ReplayKey = Pick<WebhookReplay, 'providerId' | 'reference'>

/** Returns due replays of all providers, the longest due first. */
export async function listDueReplays(
  sql: Queryable,
  now: Date,
  rowsMax: number,
): Promise<ReplayKey[]> {
  const rows = await sql<Pick<ReplayRow, 'provider_id' | 'reference'>[]>`
    select provider_id, reference from webhook_replays
    where state = 'running' and due_at <= ${now} order by due_at limit ${rowsMax}`
  return rows.map((row) => ({ providerId: row.provider_id, reference: row.reference }))
}

/** Locks a due replay until the transaction ends. Returns undefined if another process has locked it, or it is not due. */
export async function lockDueReplay(
  sql: TransactionSql,
  { providerId, reference }: ReplayKey,
  now: Date,
): Promise<WebhookReplay | undefined> {
  const [row] = await sql<ReplayRow[]>`
    select * from webhook_replays
    where provider_id = ${providerId} and reference = ${reference} and state = 'running'
      and due_at <= ${now}
    for no key update skip locked`
  return row === undefined ? undefined : fromRow(row)
}

export async function postponeReplay(
  sql: Queryable,
  { providerId, reference }: ReplayKey,
  dueAt: Date,
): Promise<void> {
  await sql`
    update webhook_replays set due_at = ${dueAt}
    where provider_id = ${providerId} and reference = ${reference}`
}

function fromRow(row: ReplayRow): WebhookReplay {
  return {
    providerId: row.provider_id,
    reference: row.reference,
    endpointRef: row.endpoint_ref,
    deliveryRef: row.delivery_ref,
    onlyFailed: row.only_failed,
    madeFrom: row.made_from,
    madeBefore: row.made_before,
    state: row.state,
    queued: row.queued,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
  }
}
