import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'

/** Credits that are taken back because the payment that bought them was refunded or disputed. */
export type TakeBack = {
  /** The processor's id of the refund or the dispute. */
  readonly reference: string
  readonly cause: 'refund' | 'dispute'
  readonly intentRef: string
  readonly customerRef: string
  /** Amount in minor units of the payment's currency. 0 if the row only claims the credits of another claim that was undone. */
  readonly amountMinor: bigint
  /** Whole credits that the amount had bought. */
  readonly credits: bigint
  /** Whether the money came back after all, so that the credits are given back. */
  readonly isUndone: boolean
  /** Credits that were available and taken, in 10^-6 credits; null if not tried yet. */
  readonly takenMicros: bigint | null
  /**
   * Id of the last ledger transaction before the first attempt. Credits of grants up to it were in the wallet at that time. Null
   * before the first attempt.
   */
  readonly grantsUpToId: bigint | null
  /** Number of postings after the first one, each of credits that came back to the wallet. */
  readonly retakes: number
  readonly isGivenBack: boolean
}

export type Claim = Pick<
  TakeBack,
  'reference' | 'cause' | 'intentRef' | 'customerRef' | 'amountMinor' | 'credits'
>

/** Inserts a claim. Does nothing if the claim exists. */
export async function insertClaim(
  sql: Queryable,
  providerId: string,
  { reference, cause, intentRef, customerRef, amountMinor, credits }: Claim,
  now: Date,
): Promise<void> {
  await sql`
    insert into credit_take_backs
      (provider_id, reference, cause, intent_ref, customer_ref, amount, credits, due_at, created_at,
       updated_at)
    values (${providerId}, ${reference}, ${cause}, ${intentRef}, ${customerRef},
      ${amountMinor.toString()}, ${credits.toString()}, ${now}, ${now}, ${now})
    on conflict (provider_id, reference) do nothing`
}

export type ClaimInForce = Pick<TakeBack, 'reference' | 'cause' | 'amountMinor' | 'credits'>

/** Returns the claims of one payment that are not undone. The claim `besides` is left out. */
export async function listClaims(
  sql: Queryable,
  providerId: string,
  intentRef: string,
  besides: string,
): Promise<ClaimInForce[]> {
  type Row = { reference: string; cause: TakeBack['cause']; amount: bigint; credits: bigint }
  const rows = await sql<Row[]>`
    select reference, cause, amount, credits from credit_take_backs
    where provider_id = ${providerId} and intent_ref = ${intentRef} and not is_undone
      and reference <> ${besides}`
  return rows.map(({ reference, cause, amount: amountMinor, credits }) => {
    return { reference, cause, amountMinor, credits }
  })
}

/** Marks a claim as undone, so that its credits are given back. Returns false if it is already undone or does not exist. */
export async function markUndone(
  sql: Queryable,
  providerId: string,
  reference: string,
  now: Date,
): Promise<boolean> {
  const rows = await sql`
    update credit_take_backs set is_undone = true, due_at = ${now}, updated_at = ${now}
    where provider_id = ${providerId} and reference = ${reference} and not is_undone
    returning 1`
  return rows.length > 0
}

export type TakeBackName = {
  readonly providerId: string
  readonly reference: string
  readonly customerRef: string
}

/**
 * Claims due take-backs of all providers, the longest due first. No other process claims them before `againAt`. Credits of a
 * payment are given back before other credits of it are taken, because otherwise too few credits would be available to take.
 */
export async function claimDueTakeBacks(
  sql: Queryable,
  now: Date,
  againAt: Date,
  rowsMax: number,
): Promise<TakeBackName[]> {
  const rows = await sql<{ provider_id: string; reference: string; customer_ref: string }[]>`
    update credit_take_backs set due_at = ${againAt}
    where (provider_id, reference) in (
      select provider_id, reference from credit_take_backs as due
      where due_at <= ${now} and (is_undone or not exists (
        select from credit_take_backs as other
        where other.provider_id = due.provider_id and other.intent_ref = due.intent_ref
          and other.is_undone and other.due_at is not null))
      order by due_at limit ${rowsMax} for update skip locked)
    returning provider_id, reference, customer_ref`
  return rows.map((row) => {
    const { provider_id: providerId, reference, customer_ref: customerRef } = row
    return { providerId, reference, customerRef }
  })
}

export async function lockTakeBack(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<TakeBack | undefined> {
  const [row] = await sql<
    {
      cause: TakeBack['cause']
      intent_ref: string
      customer_ref: string
      amount: bigint
      credits: bigint
      is_undone: boolean
      taken_micros: string | null
      grants_up_to_id: bigint | null
      retakes: number
      given_back_at: Date | null
    }[]
  >`
    select * from credit_take_backs
    where provider_id = ${providerId} and reference = ${reference} for update`
  if (row === undefined) return undefined
  return {
    reference,
    cause: row.cause,
    intentRef: row.intent_ref,
    customerRef: row.customer_ref,
    amountMinor: row.amount,
    credits: row.credits,
    isUndone: row.is_undone,
    takenMicros: row.taken_micros === null ? null : BigInt(row.taken_micros),
    grantsUpToId: row.grants_up_to_id,
    retakes: row.retakes,
    isGivenBack: row.given_back_at !== null,
  }
}

/** Stores the results of a take-back. Its processing ends unless `isTriedAgain`: then it is due again when its claim ends. */
export async function saveTakeBackResult(
  sql: Queryable,
  providerId: string,
  { reference, takenMicros, grantsUpToId, retakes, isGivenBack }: TakeBack,
  isTriedAgain: boolean,
  now: Date,
): Promise<void> {
  await sql`
    update credit_take_backs set taken_micros = ${takenMicros?.toString() ?? null},
      grants_up_to_id = ${grantsUpToId?.toString() ?? null}, retakes = ${retakes},
      given_back_at = ${isGivenBack ? now : null},
      due_at = ${isTriedAgain ? sql`due_at` : null}, updated_at = ${now}
    where provider_id = ${providerId} and reference = ${reference}`
}

/**
 * Makes the take-backs of the customer due that have found too few credits. The caller has locked the wallet and returned credits to
 * it, so the next attempt finds these credits.
 */
export async function retryShortTakeBacks(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  now: Date,
): Promise<void> {
  await sql`
    update credit_take_backs set due_at = ${now}
    where provider_id = ${providerId} and customer_ref = ${customerRef} and ${isShort(sql)}`
}

/** Has the conditions of the partial index, so that the planner uses it. */
function isShort(sql: Queryable): Fragment {
  return sql`not is_undone and taken_micros < credits * 1000000::numeric`
}
