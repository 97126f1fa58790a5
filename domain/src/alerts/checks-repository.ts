import type { Queryable } from '@tollgate/platform/database/database'

/** Usage of one customer reference in one hour. */
export type UsedHour = {
  readonly providerId: string
  /** Any reference of the customer. */
  readonly customerRef: string
  /** Hours since 1970. */
  readonly unixHour: number
}

export const hourMs = 3_600_000

/**
 * Maximum number of hours that one check looks at. Late usage of more hours than this since the last check, seconds ago, is only
 * possible in bulk. The newest hours are kept.
 */
const hoursMax = 64

/**
 * Returns the providers with alerts, with budgets of customers, or with purchases that are billed at an amount of unbilled usage. The
 * purchases of a provider can be many, so the query reads one of each.
 */
export async function listWatchedProviders(sql: Queryable): Promise<ReadonlySet<string>> {
  const rows = await sql<{ provider_id: string }[]>`
    with recursive billing as (
      (select provider_id from purchases where ${isBilledWithinPeriods(sql)}
        order by provider_id limit 1)
      union all
      select (select purchases.provider_id from purchases
        where purchases.provider_id > billing.provider_id and ${isBilledWithinPeriods(sql)}
        order by purchases.provider_id limit 1)
      from billing where billing.provider_id is not null)
    select provider_id from billing where provider_id is not null
    union select provider_id from alerts where watches <> 'wallet'
    union select provider_id from budgets`
  return new Set(rows.map((row) => row.provider_id))
}

/** The condition of the index `purchases_billed_at_threshold`. */
function isBilledWithinPeriods(sql: Queryable) {
  return sql`purchases.next_usage_bill_at is not null
    and purchases.plan_snapshot->'terms'->>'billAtUnbilledMinor' is not null`
}

/**
 * Notes the customers to check. A provider without alerts needs checks only of customers with a budget, or with a purchase that is
 * billed at an amount of unbilled usage. A reference that belongs to no customer has no limits.
 */
export async function noteUsedHours(sql: Queryable, used: readonly UsedHour[]): Promise<void> {
  if (used.length === 0) return
  await sql`
    insert into alert_checks as kept (provider_id, customer_ref, used_hours)
      select used.provider_id, link.customer_ref,
        (array_agg(distinct used.unix_hour order by used.unix_hour desc))[1:${hoursMax}]
      from unnest(
        ${used.map((each) => each.providerId)}::text[],
        ${used.map((each) => each.customerRef)}::text[],
        ${used.map((each) => each.unixHour)}::integer[]
      ) as used (provider_id, reference, unix_hour)
      join customer_references link on link.provider_id = used.provider_id
        and link.reference = used.reference and link.released_at is null
      where exists (
          select from alerts where alerts.provider_id = used.provider_id and alerts.watches <> 'wallet')
        or exists (
          select from budgets where budgets.provider_id = used.provider_id
            and budgets.customer_ref = link.customer_ref)
        or exists (
          select from purchases where purchases.provider_id = used.provider_id
            and purchases.customer_ref = link.customer_ref and ${isBilledWithinPeriods(sql)})
      group by used.provider_id, link.customer_ref
      order by used.provider_id, link.customer_ref
    on conflict (provider_id, customer_ref) do update set
      used_hours = ${newestHours(sql)}, version = kept.version + 1`
}

/** Returns the newest hours of a row that exists and of the one that is inserted. */
function newestHours(sql: Queryable) {
  return sql`array(
    select distinct hour from unnest(kept.used_hours || excluded.used_hours) as hour
    order by hour desc limit ${hoursMax})`
}

type Requested = { readonly sql: Queryable; readonly providerId: string; readonly now: Date }

/** Requests a check of the current period of one customer, for example because the customer's budget changed. */
export async function requestCheck(
  { sql, providerId, now }: Requested,
  customerRef: string,
): Promise<void> {
  const unixHour = Math.floor(now.getTime() / hourMs)
  await sql`
    insert into alert_checks as kept (provider_id, customer_ref, used_hours)
    values (${providerId}, ${customerRef}, array[${unixHour}::integer])
    on conflict (provider_id, customer_ref) do update set
      used_hours = ${newestHours(sql)},
      version = kept.version + 1, due_at = least(kept.due_at, now())`
}

/** A check that this process has claimed. */
export type ClaimedCheck = {
  readonly providerId: string
  readonly customerRef: string
  readonly usedHours: readonly number[]
  readonly version: bigint
  readonly claim: number
}

/** Claims due checks, those that wait longest first. A claim that is not finished ends with its lease, and the check is due again. */
export async function claimChecks(
  sql: Queryable,
  { checksMax, leaseMs }: { readonly checksMax: number; readonly leaseMs: number },
): Promise<ClaimedCheck[]> {
  const rows = await sql<
    {
      provider_id: string
      customer_ref: string
      used_hours: number[]
      version: bigint
      claim: number
    }[]
  >`
    update alert_checks as claimed
    set claim = claimed.claim + 1, claimed_until = now() + ${leaseMs} * interval '1 millisecond'
    where (provider_id, customer_ref) in (
      select provider_id, customer_ref from alert_checks
      where due_at <= now() and (claimed_until is null or claimed_until <= now())
      order by due_at limit ${checksMax}
      for update skip locked)
    returning provider_id, customer_ref, used_hours, version, claim`
  return rows.map((row) => ({
    providerId: row.provider_id,
    customerRef: row.customer_ref,
    usedHours: row.used_hours,
    version: row.version,
    claim: row.claim,
  }))
}

/**
 * Locks the check until the end of the transaction. Returns false if the lease has ended and another process has claimed it. All
 * effects of a check are in one transaction with this lock, so checks of a customer are ordered.
 */
export async function lockClaim(
  sql: Queryable,
  { providerId, customerRef, claim }: ClaimedCheck,
): Promise<boolean> {
  const rows = await sql`
    select 1 from alert_checks
    where provider_id = ${providerId} and customer_ref = ${customerRef} and claim = ${claim}
    for update`
  return rows.length > 0
}

/** Removes the check, unless the customer has used more since it was claimed. Then it is due at once. */
export async function finishCheck(
  sql: Queryable,
  { providerId, customerRef, claim, version }: ClaimedCheck,
): Promise<void> {
  const ofClaim = sql`
    where provider_id = ${providerId} and customer_ref = ${customerRef} and claim = ${claim}`
  await sql`delete from alert_checks ${ofClaim} and version = ${version.toString()}`
  await sql`
    update alert_checks set claimed_until = null, due_at = now(), failures = 0
    ${ofClaim}`
}

/** Makes a check that failed due again after a delay that doubles with each failure. */
export async function postponeCheck(
  sql: Queryable,
  { providerId, customerRef, claim }: ClaimedCheck,
  { firstMs, longestMs }: { readonly firstMs: number; readonly longestMs: number },
): Promise<void> {
  await sql`
    update alert_checks set claimed_until = null, failures = least(failures + 1, 30),
      due_at = now() + least(${firstMs} * power(2, failures), ${longestMs}) * interval '1 millisecond'
    where provider_id = ${providerId} and customer_ref = ${customerRef} and claim = ${claim}`
}
