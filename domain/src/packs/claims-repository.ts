import type { Queryable } from '@tollgate/platform/database/database'
import type { AccountName } from './repository.ts'

/** Units of a pack that are taken back, because the payment for them was refunded or disputed. */
export type PackClaim = {
  /** The processor's id of the refund or the dispute. */
  readonly reference: string
  readonly packRef: string
  readonly claimedAt: Date
  /** 10^-6 units that the amount had bought. */
  readonly unitsMicros: bigint
}

type ClaimRow = { reference: string; pack_ref: string; claimed_at: Date; units_micros: bigint }

/** Returns the claims of the account that are not settled, oldest first. */
export async function listOpenClaims(
  sql: Queryable,
  providerId: string,
  { customerRef, productRef }: AccountName,
): Promise<PackClaim[]> {
  const rows = await sql<ClaimRow[]>`
    select reference, pack_ref, claimed_at, pack_claims.units_micros
    from packs join pack_claims on pack_claims.provider_id = packs.provider_id
      and pack_ref = purchase_ref
    where packs.provider_id = ${providerId} and customer_ref = ${customerRef}
      and product_ref = ${productRef} and pack_claims.taken_micros is null
    order by claimed_at, reference`
  return rows.map((row) => ({
    reference: row.reference,
    packRef: row.pack_ref,
    claimedAt: row.claimed_at,
    unitsMicros: row.units_micros,
  }))
}

/** Returns the refunded and disputed amount of a pack, in minor units, and the units that it claims, 10^-6. */
export async function sumClaims(
  sql: Queryable,
  providerId: string,
  packRef: string,
): Promise<{ readonly amountMinor: bigint; readonly unitsMicros: bigint }> {
  const [row] = await sql<[{ amount: string; units: string }]>`
    select coalesce(sum(amount), 0)::text as amount, coalesce(sum(units_micros), 0)::text as units
    from pack_claims where provider_id = ${providerId} and pack_ref = ${packRef}`
  return { amountMinor: BigInt(row.amount), unitsMicros: BigInt(row.units) }
}

/** Returns whether the claim exists. */
export async function hasClaim(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<boolean> {
  const rows = await sql`
    select 1 from pack_claims where provider_id = ${providerId} and reference = ${reference}`
  return rows.length > 0
}

export async function insertPackClaim(
  sql: Queryable,
  providerId: string,
  claim: PackClaim & { readonly amountMinor: bigint },
): Promise<void> {
  await sql`
    insert into pack_claims (provider_id, reference, pack_ref, claimed_at, amount, units_micros)
    values (${providerId}, ${claim.reference}, ${claim.packRef}, ${claim.claimedAt},
      ${claim.amountMinor.toString()}, ${claim.unitsMicros.toString()})`
}

/** Deletes a claim, and gives back the units that it took. The money came back to the provider. */
export async function deletePackClaim(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<void> {
  await sql`
    with undone as (
      delete from pack_claims where provider_id = ${providerId} and reference = ${reference}
      returning pack_ref, coalesce(taken_micros, 0) as taken)
    update packs set taken_micros = taken_micros - taken from undone
    where provider_id = ${providerId} and purchase_ref = pack_ref`
}

/** Stores the units that a claim took back. The caller has locked the account. */
export async function settlePackClaim(
  sql: Queryable,
  providerId: string,
  { reference, packRef }: PackClaim,
  takenMicros: bigint,
): Promise<void> {
  await sql`
    update pack_claims set taken_micros = ${takenMicros.toString()}
    where provider_id = ${providerId} and reference = ${reference}`
  await sql`
    update packs set taken_micros = taken_micros + ${takenMicros.toString()}
    where provider_id = ${providerId} and purchase_ref = ${packRef}`
}
