import type { Queryable } from '@tollgate/platform/database/database'
import { isOnAdvancingClock, selectCustomersOfClocks } from '../test-clocks/customer-time.ts'
import { queuePublication, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'

export type AutoRechargeStatus = 'active' | 'disabled' | 'failed' | 'pending_setup'

/**
 * Why nothing can be bought although no charge was declined. `monthly_cap_too_low`: one top-up with its tax costs more
 * than the monthly maximum. `exchange_rate_missing`: a currency of the recharge no longer has an exchange rate.
 */
export type RechargeObstacle = 'monthly_cap_too_low' | 'exchange_rate_missing'

/** Terms that the owner of the wallet requested. */
export type AutoRechargeTerms = {
  readonly status: AutoRechargeStatus
  /** Minor units of `thresholdCurrency`, the currency in which the balance was shown when the terms were requested. */
  readonly thresholdMinor: bigint
  readonly thresholdCurrency: string
  /** Minor units of `topupCurrency`, like both monthly amounts. */
  readonly topupMinor: bigint
  readonly topupCurrency: string
  /** Including tax, like the monthly spending. */
  readonly monthlySpendMaxMinor: bigint | null
}

export type AutoRecharge = AutoRechargeTerms & {
  readonly monthlySpendMinor: bigint
  /** `YYYY-MM`, UTC. */
  readonly monthlySpendPeriod: string | null
  readonly failureCount: number
  /** Obstacle that the last check found. */
  readonly obstacle: RechargeObstacle | null
  /** Month in which the owner was last notified of an obstacle, as `YYYY-MM` in UTC. */
  readonly obstacleMonth: string | null
  readonly fundingSourceType: 'saved_card' | 'tokenized_card'
  readonly paymentMethodId: string | null
  readonly inFlightPaymentIntentId: string | null
  readonly lastChargeAt: Date | null
  readonly lockAcquiredAt: Date | null
  readonly updatedAt: Date
}

type AutoRechargeRow = {
  status: AutoRechargeStatus
  threshold_minor: bigint
  threshold_currency: string
  topup_minor: bigint
  topup_currency: string
  monthly_spend_minor: bigint
  monthly_spend_max_minor: bigint | null
  monthly_spend_period: string | null
  failure_count: number
  obstacle: RechargeObstacle | null
  obstacle_month: string | null
  funding_source_type: 'saved_card' | 'tokenized_card'
  payment_method_id: string | null
  in_flight_payment_intent_id: string | null
  last_charge_at: Date | null
  lock_acquired_at: Date | null
  updated_at: Date
}

/** Stores new terms. The spending so far and a payment in progress stay, and the count of declines is reset. */
export async function saveAutoRecharge(
  work: UnitOfWork,
  customerRef: string,
  terms: AutoRechargeTerms,
): Promise<AutoRecharge> {
  const { sql, providerId, now } = work
  const changed = {
    status: terms.status,
    threshold_minor: terms.thresholdMinor.toString(),
    threshold_currency: terms.thresholdCurrency,
    topup_minor: terms.topupMinor.toString(),
    topup_currency: terms.topupCurrency,
    monthly_spend_max_minor: terms.monthlySpendMaxMinor?.toString() ?? null,
    failure_count: 0,
    obstacle: null,
    obstacle_month: null,
    updated_at: now,
    // Makes the recharge due for a check at once. Without this, an empty wallet that does not change would wait.
    looked_at: null,
  }
  const key = { provider_id: providerId, customer_ref: customerRef }
  const [row] = await sql<[AutoRechargeRow]>`
    insert into auto_recharges ${sql({ ...changed, ...key, funding_source_type: 'saved_card' })}
    on conflict (provider_id, customer_ref) do update set ${sql(changed)},
      -- Spending in another currency does not count for this one.
      monthly_spend_minor = case when auto_recharges.topup_currency = excluded.topup_currency
        then auto_recharges.monthly_spend_minor else 0 end
    returning *`
  await queuePublication(work, 'customer', customerRef)
  return fromRow(row)
}

/** Does nothing if the customer has no recharge. */
export async function disableAutoRecharge(work: UnitOfWork, customerRef: string): Promise<void> {
  const { sql, providerId, now } = work
  await sql`
    update auto_recharges set status = 'disabled', updated_at = ${now}
    where provider_id = ${providerId} and customer_ref = ${customerRef} and status <> 'disabled'`
  await queuePublication(work, 'customer', customerRef)
}

export async function findAutoRecharge(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<AutoRecharge | undefined> {
  const [row] = await sql<AutoRechargeRow[]>`
    select * from auto_recharges
    where provider_id = ${providerId} and customer_ref = ${customerRef}`
  return row === undefined ? undefined : fromRow(row)
}

/** Locks the recharge for which the payment `reference` is in progress. */
export async function lockRechargeInFlight(
  sql: Queryable,
  providerId: string,
  { customerRef, reference }: { readonly customerRef: string; readonly reference: string },
): Promise<AutoRecharge | undefined> {
  const [row] = await sql<AutoRechargeRow[]>`
    select * from auto_recharges
    where provider_id = ${providerId} and customer_ref = ${customerRef}
      and in_flight_payment_intent_id = ${reference}
    for update`
  return row === undefined ? undefined : fromRow(row)
}

/** Locks the recharge. Every charge starts with this lock, so one payment is in progress at a time. */
export async function lockAutoRecharge(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<AutoRecharge | undefined> {
  const [row] = await sql<AutoRechargeRow[]>`
    select * from auto_recharges
    where provider_id = ${providerId} and customer_ref = ${customerRef} for update`
  return row === undefined ? undefined : fromRow(row)
}

/** Stores the fields that a charge changes. */
export async function updateRecharge(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  recharge: AutoRecharge,
): Promise<void> {
  await sql`
    update auto_recharges set status = ${recharge.status},
      monthly_spend_minor = ${recharge.monthlySpendMinor.toString()},
      monthly_spend_period = ${recharge.monthlySpendPeriod},
      failure_count = ${recharge.failureCount},
      obstacle = ${recharge.obstacle}, obstacle_month = ${recharge.obstacleMonth},
      in_flight_payment_intent_id = ${recharge.inFlightPaymentIntentId},
      last_charge_at = ${recharge.lastChargeAt}, lock_acquired_at = ${recharge.lockAcquiredAt},
      updated_at = ${recharge.updatedAt}
    where provider_id = ${providerId} and customer_ref = ${customerRef}`
}

/** Stores the processor's id of a card setup. The setup is polled until a card is saved, in case no webhook arrives. */
export async function saveRechargeSetup(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  setupIntentId: string,
): Promise<void> {
  await sql`
    update auto_recharges set setup_intent_id = ${setupIntentId}
    where provider_id = ${providerId} and customer_ref = ${customerRef}`
}

/**
 * Sets the card to charge. A recharge that waits for a card becomes active, an active one uses this card from now on,
 * and one that failed with another card becomes active again.
 */
export async function setRechargeCard(
  work: UnitOfWork,
  customerRef: string,
  paymentMethodId: string,
): Promise<void> {
  const { sql, providerId, now } = work
  const changed = await sql`
    update auto_recharges set status = 'active', failure_count = 0,
      payment_method_id = ${paymentMethodId}, updated_at = ${now}, looked_at = null
    where provider_id = ${providerId} and customer_ref = ${customerRef}
      and (status = 'pending_setup' or (status in ('active', 'failed')
        and payment_method_id is distinct from ${paymentMethodId}))
    returning 1`
  if (changed.length > 0) await queuePublication(work, 'customer', customerRef)
}

/** Removes the card. The recharge waits for another card. */
export async function removeRechargeCard(work: UnitOfWork, customerRef: string): Promise<void> {
  const { sql, providerId, now } = work
  const changed = await sql`
    update auto_recharges set status = 'pending_setup', failure_count = 0,
      payment_method_id = null, setup_intent_id = null, updated_at = ${now}
    where provider_id = ${providerId} and customer_ref = ${customerRef}
      and status in ('active', 'failed', 'pending_setup')
    returning 1`
  if (changed.length > 0) await queuePublication(work, 'customer', customerRef)
}

export type RechargeName = { readonly providerId: string; readonly customerRef: string }

/**
 * Claims recharges of all providers whose wallet changed since the last check, or whose last check was before
 * `checkedBefore`, because exchange rates change and monthly limits start again. Marks them as checked. The longest
 * unchecked ones come first.
 */
export async function claimRechargesToCheck(
  sql: Queryable,
  now: Date,
  checkedBefore: Date,
  rowsMax: number,
): Promise<RechargeName[]> {
  const rows = await sql<{ provider_id: string; customer_ref: string }[]>`
    update auto_recharges set looked_at = ${now}
    where (provider_id, customer_ref) in (
      select provider_id, customer_ref from auto_recharges
      where status = 'active' and in_flight_payment_intent_id is null
        and not ${isOnAdvancingClock(sql, sql`auto_recharges`)}
        and (looked_at is null or looked_at < ${checkedBefore} or exists (
          select from wallets
          where wallets.provider_id = auto_recharges.provider_id
            and wallets.customer_ref = auto_recharges.customer_ref
            -- A posting is dated at its start and visible after its commit. A check may run in between.
            and wallets.updated_at >= auto_recharges.looked_at - interval '10 seconds'
            -- Postings on a test clock are dated ahead of every check. Those wallets are checked when the clock expires credits, and
            -- after the pause that all have.
            and (wallets.provider_id, wallets.customer_ref) not in (${selectCustomersOfClocks(sql)})))
      order by looked_at nulls first limit ${rowsMax} for update skip locked)
    returning provider_id, customer_ref`
  return rows.map((row) => ({ providerId: row.provider_id, customerRef: row.customer_ref }))
}

function fromRow(row: AutoRechargeRow): AutoRecharge {
  return {
    status: row.status,
    thresholdMinor: row.threshold_minor,
    thresholdCurrency: row.threshold_currency,
    topupMinor: row.topup_minor,
    topupCurrency: row.topup_currency,
    monthlySpendMinor: row.monthly_spend_minor,
    monthlySpendMaxMinor: row.monthly_spend_max_minor,
    monthlySpendPeriod: row.monthly_spend_period,
    failureCount: row.failure_count,
    obstacle: row.obstacle,
    obstacleMonth: row.obstacle_month,
    fundingSourceType: row.funding_source_type,
    paymentMethodId: row.payment_method_id,
    inFlightPaymentIntentId: row.in_flight_payment_intent_id,
    lastChargeAt: row.last_charge_at,
    lockAcquiredAt: row.lock_acquired_at,
    updatedAt: row.updated_at,
  }
}

export async function removeAutoRecharge(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<void> {
  await sql`
    delete from auto_recharges
    where provider_id = ${providerId} and customer_ref = ${customerRef}`
}
