import type { EventObject } from '@tollgate/schemas/event-types'
import type { Queryable } from '@tollgate/platform/database/database'
import { jsonb } from '../postgres/jsonb.ts'

export type ReachedThreshold = EventObject<'usage.threshold_reached'>

type NewFiring = {
  readonly customerRef: string
  readonly subject: string
  readonly period: string
  readonly threshold: string
  /** What packs add to the limit. */
  readonly raised: bigint
  readonly firedAt: Date
  readonly object: ReachedThreshold
  readonly periodEnd: Date | null
  readonly keptUntil: Date | null
  /** For a window that moves: how long the threshold is not emitted again. */
  readonly rollingSeconds: number | undefined
}

/** Returns false if the threshold was emitted before in the period, while packs added as much or more. */
export async function insertFiring(
  sql: Queryable,
  providerId: string,
  firing: NewFiring,
): Promise<boolean> {
  const { customerRef, subject, period, threshold, firedAt, rollingSeconds } = firing
  const raised = firing.raised.toString()
  const since = new Date(firedAt.getTime() - (rollingSeconds ?? 0) * 1_000)
  const rows = await sql`
    insert into alert_firings
      (provider_id, customer_ref, subject, period, threshold, raised_micros, fired_at, object, period_end,
        kept_until)
    select ${providerId}, ${customerRef}, ${subject}, ${period}, ${threshold}, ${raised}::bigint, ${firedAt}::timestamptz,
      ${jsonb(sql, firing.object)}::jsonb, ${firing.periodEnd}::timestamptz, ${firing.keptUntil}::timestamptz
    where not exists (
      select from alert_firings
      where provider_id = ${providerId} and customer_ref = ${customerRef}
        and subject = ${subject} and threshold = ${threshold}
        and ((period = ${period} and raised_micros >= ${raised}::bigint)
          or (${rollingSeconds !== undefined} and fired_at > ${since})))
    on conflict do nothing
    returning period`
  return rows.length > 0
}

/** Maximum number of thresholds that a page or response shows. A product has a few limits, and each a few thresholds. */
const shownMax = 100

/** Returns the thresholds that the customer has reached in running periods, the newest first. */
export async function listReached(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  now: Date,
): Promise<ReachedThreshold[]> {
  const rows = await sql<{ object: ReachedThreshold }[]>`
    select object from alert_firings
    where provider_id = ${providerId} and customer_ref = ${customerRef}
      and (period_end is null or period_end > ${now})
    order by fired_at desc, subject, threshold desc
    limit ${shownMax}`
  return rows.map(({ object }) => object)
}

const deletedMax = 1_000

/** Deletes rows of periods that can get no more usage, oldest first, and at most a batch of them. */
export async function deleteExpiredFirings(sql: Queryable, now: Date): Promise<void> {
  await sql`
    delete from alert_firings where ctid in (
      select ctid from alert_firings where kept_until <= ${now} order by kept_until limit ${deletedMax})`
}
