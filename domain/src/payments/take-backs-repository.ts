import type { Queryable } from '@tollgate/platform/database/database'

/** Credits that are taken back, because money that had bought them was paid back. */
export type TakeBack = {
  /** The processor's, of the refund or the dispute. */
  readonly reference: string
  readonly cause: 'refund' | 'dispute'
  readonly intentRef: string
  readonly customerRef: string
  /** Minor units of the payment's currency. */
  readonly amountMinor: bigint
  /** Whole credits that it had bought. */
  readonly credits: bigint
  /** The money has come back after all. */
  readonly isUndone: boolean
  /** What was there to be taken, 10^-6 credits; null: nobody has tried. */
  readonly takenMicros: bigint | null
  readonly isGivenBack: boolean
}

export type Claim = Omit<TakeBack, 'isUndone' | 'takenMicros' | 'isGivenBack'>

/** Nothing where it is claimed already. */
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

/** Of all others of one payment, but for those that are undone. */
export async function sumClaims(
  sql: Queryable,
  providerId: string,
  intentRef: string,
  besides: string,
): Promise<Pick<TakeBack, 'amountMinor' | 'credits'>> {
  const [row] = await sql<{ amount: string; credits: string }[]>`
    select coalesce(sum(amount), 0)::text as amount, coalesce(sum(credits), 0)::text as credits
    from credit_take_backs
    where provider_id = ${providerId} and intent_ref = ${intentRef} and not is_undone
      and reference <> ${besides}`
  return { amountMinor: BigInt(row!.amount), credits: BigInt(row!.credits) }
}

/** The money has come back: so are the credits to. */
export async function undoClaim(
  sql: Queryable,
  providerId: string,
  reference: string,
  now: Date,
): Promise<void> {
  await sql`
    update credit_take_backs set is_undone = true, due_at = ${now}, updated_at = ${now}
    where provider_id = ${providerId} and reference = ${reference} and not is_undone`
}

export type TakeBackName = {
  readonly providerId: string
  readonly reference: string
  readonly customerRef: string
}

/** Takes on those that are due, of any provider, the longest due first. Nobody else takes these on before `againAt`. */
export async function claimDueTakeBacks(
  sql: Queryable,
  now: Date,
  againAt: Date,
  rowsMax: number,
): Promise<TakeBackName[]> {
  const rows = await sql<{ provider_id: string; reference: string; customer_ref: string }[]>`
    update credit_take_backs set due_at = ${againAt}
    where (provider_id, reference) in (
      select provider_id, reference from credit_take_backs where due_at <= ${now}
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
    isGivenBack: row.given_back_at !== null,
  }
}

/** All that is wanted of it is done. */
export async function settleTakeBack(
  sql: Queryable,
  providerId: string,
  { reference, takenMicros, isGivenBack }: TakeBack,
  now: Date,
): Promise<void> {
  await sql`
    update credit_take_backs set taken_micros = ${takenMicros?.toString() ?? null},
      given_back_at = ${isGivenBack ? now : null}, due_at = null, updated_at = ${now}
    where provider_id = ${providerId} and reference = ${reference}`
}
