import type { Queryable } from '@tollgate/platform/database/database'

/** Credits that are taken back, because money that had bought them was paid back. */
export type TakeBack = {
  /** The processor's, of the refund or the dispute. */
  readonly reference: string
  readonly cause: 'refund' | 'dispute'
  readonly intentRef: string
  readonly customerRef: string
  /** Minor units of the payment's currency; none where it claims what another one had, which is undone. */
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

export type ClaimInForce = Pick<TakeBack, 'reference' | 'cause' | 'amountMinor' | 'credits'>

/** Of one payment, but for those that are undone, and for one that is decided about. */
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

/** What was taken is to be given back. False where it is already, or nothing was claimed. */
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
 * Takes on those that are due, of any provider, the longest due first. Nobody else takes these on before `againAt`. What is
 * to be given back of a payment comes before what is to be taken, which else would find that gone.
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
