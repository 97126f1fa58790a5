import type { Queryable } from '@tollgate/platform/database/database'

/*
 * Purchases whose unbilled usage was measured to have reached the amount of their plan. A crossing requests a bill and decides
 * nothing: the billing runner sums the usage up again.
 */

/** Notes the crossing, or that it was found again. */
export async function noteCrossing(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
  now: Date,
): Promise<void> {
  await sql`
    insert into threshold_crossings as kept (provider_id, purchase_ref, noted_at)
    values (${providerId}, ${purchaseRef}, ${now})
    on conflict (provider_id, purchase_ref) do update set version = kept.version + 1`
}

/** Returns the version of the purchase's crossing, undefined if there is none. */
export async function findCrossing(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
): Promise<bigint | undefined> {
  const [row] = await sql<{ version: bigint }[]>`
    select version from threshold_crossings
    where provider_id = ${providerId} and purchase_ref = ${purchaseRef}`
  return row?.version
}

/**
 * Removes the crossing, unless it was found again since that version was read. A usage that was stored after the sum of a bill is not
 * in it, and is measured by the next bill.
 */
export async function removeCrossing(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
  version: bigint,
): Promise<void> {
  await sql`
    delete from threshold_crossings
    where provider_id = ${providerId} and purchase_ref = ${purchaseRef}
      and version = ${version.toString()}`
}
