import type { Queryable } from '@tollgate/platform/database/database'
import { openPacksMax } from '@tollgate/schemas/limits'
import { selectKeys, type CustomerKey } from '../customers/repository.ts'
import type { AccountName, Pack, PackAccount, PackDraw } from './pack-account.ts'

export type { AccountName, Pack, PackAccount, PackUse } from './pack-account.ts'

type PackJson = {
  purchase_ref: string
  meter_name: string
  units_micros: string
  used_micros: string
  taken_micros: string
  claimed_micros: string
  starts_at: string
  ends_at: string | null
}

type UseJson = { purchase_ref: string; meter_name: string; period_start: string; micros: string }

type AccountRow = {
  customer_ref: string
  product_ref: string
  settled_to: Date
  packs: PackJson[]
  uses: UseJson[]
}

/** Returns the packs of the customers by the customers' own references. Customers who never had one are absent. */
export async function listPackAccounts(
  sql: Queryable,
  customers: readonly CustomerKey[],
): Promise<Map<string, PackAccount[]>> {
  // Integers become text, because JSON numbers are not exact.
  const rows = await sql<AccountRow[]>`
    select customer_ref, product_ref, settled_to,
      (select coalesce(jsonb_agg(jsonb_build_object(
          'purchase_ref', purchase_ref, 'meter_name', meter_name, 'units_micros', units_micros::text,
          'used_micros', used_micros::text, 'taken_micros', taken_micros::text,
          'claimed_micros', (
            select coalesce(sum(units_micros), 0)::text from pack_claims
            where pack_claims.provider_id = packs.provider_id and pack_ref = packs.purchase_ref
              and pack_claims.taken_micros is null),
          'starts_at', starts_at, 'ends_at', ends_at) order by starts_at, purchase_ref), '[]')
        from packs where packs.provider_id = account.provider_id
          and packs.customer_ref = account.customer_ref
          and packs.product_ref = account.product_ref) as packs,
      (select coalesce(jsonb_agg(jsonb_build_object(
          'purchase_ref', pack_uses.purchase_ref, 'meter_name', meter_name,
          'period_start', period_start, 'micros', micros::text)), '[]')
        from packs join pack_uses on pack_uses.provider_id = packs.provider_id
          and pack_ref = packs.purchase_ref
        where packs.provider_id = account.provider_id
          and packs.customer_ref = account.customer_ref
          and packs.product_ref = account.product_ref) as uses
    from pack_accounts as account
    where (provider_id, customer_ref) in (${selectKeys(sql, customers)})
    order by product_ref`
  const accounts = new Map<string, PackAccount[]>()
  for (const row of rows) {
    const known = accounts.get(row.customer_ref) ?? []
    accounts.set(row.customer_ref, [...known, accountOf(row)])
  }
  return accounts
}

function accountOf(row: AccountRow): PackAccount {
  return {
    customerRef: row.customer_ref,
    productRef: row.product_ref,
    settledTo: row.settled_to,
    packs: row.packs.map((pack) => ({
      purchaseRef: pack.purchase_ref,
      meterName: pack.meter_name,
      unitsMicros: BigInt(pack.units_micros),
      usedMicros: BigInt(pack.used_micros),
      takenMicros: BigInt(pack.taken_micros),
      claimedMicros: BigInt(pack.claimed_micros),
      startsAt: new Date(pack.starts_at),
      endsAt: pack.ends_at === null ? null : new Date(pack.ends_at),
    })),
    uses: row.uses.map((use) => ({
      purchaseRef: use.purchase_ref,
      meterName: use.meter_name,
      periodStart: new Date(use.period_start),
      micros: BigInt(use.micros),
    })),
  }
}

/** Returns the customer's packs of the product. Undefined if the customer never had one. */
export async function findPackAccount(
  sql: Queryable,
  providerId: string,
  { customerRef, productRef }: AccountName,
): Promise<PackAccount | undefined> {
  const accounts = await listPackAccounts(sql, [{ providerId, customerRef }])
  return accounts.get(customerRef)?.find((account) => account.productRef === productRef)
}

/** Locks and returns the customer's packs of the product. Every change of units locks them first. */
export async function lockPackAccount(
  sql: Queryable,
  providerId: string,
  name: AccountName,
): Promise<PackAccount | undefined> {
  const locked = await sql`
    select 1 from pack_accounts
    where provider_id = ${providerId} and customer_ref = ${name.customerRef}
      and product_ref = ${name.productRef} for update`
  return locked.length === 0 ? undefined : findPackAccount(sql, providerId, name)
}

/** Inserts a pack, and the account of the customer's first one. An account whose packs are all used up begins again at `now`. */
export async function insertPack(
  sql: Queryable,
  providerId: string,
  name: AccountName,
  pack: Pick<Pack, 'purchaseRef' | 'meterName' | 'unitsMicros' | 'startsAt' | 'endsAt'>,
  now: Date,
): Promise<void> {
  const { customerRef, productRef } = name
  await sql`
    insert into pack_accounts as account
      (provider_id, customer_ref, product_ref, settled_to, due_at)
    values (${providerId}, ${customerRef}, ${productRef}, ${now}, ${now})
    on conflict (provider_id, customer_ref, product_ref) do update set due_at = ${now},
      settled_to = case when exists (
          select from packs where packs.provider_id = account.provider_id
            and packs.customer_ref = account.customer_ref
            and packs.product_ref = account.product_ref
            and used_micros + taken_micros < units_micros
            and (ends_at is null or ends_at > account.settled_to))
        then account.settled_to else greatest(account.settled_to, ${now}) end`
  await sql`
    insert into packs (provider_id, purchase_ref, customer_ref, product_ref, meter_name,
      units_micros, starts_at, ends_at)
    values (${providerId}, ${pack.purchaseRef}, ${customerRef}, ${productRef}, ${pack.meterName},
      ${pack.unitsMicros.toString()}, ${pack.startsAt}, ${pack.endsAt})`
}

/** Returns whether the customer has as many packs with units left as are allowed. */
export async function hasMaxPacks(
  sql: Queryable,
  providerId: string,
  { customerRef, productRef }: AccountName,
  now: Date,
): Promise<boolean> {
  const rows = await sql`
    select 1 from packs
    where provider_id = ${providerId} and customer_ref = ${customerRef}
      and product_ref = ${productRef} and used_micros + taken_micros < units_micros
      and (ends_at is null or ends_at > ${now})
    limit ${openPacksMax}`
  return rows.length >= openPacksMax
}

/** Ends the units of a pack, unless they ended before. The account is locked first, as everywhere. */
export async function endPack(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
  now: Date,
): Promise<void> {
  await sql`
    update pack_accounts as account set due_at = ${now} from packs
    where packs.provider_id = ${providerId} and packs.purchase_ref = ${purchaseRef}
      and account.provider_id = packs.provider_id and account.customer_ref = packs.customer_ref
      and account.product_ref = packs.product_ref`
  await sql`
    update packs set ends_at = least(coalesce(ends_at, ${now}), ${now})
    where provider_id = ${providerId} and purchase_ref = ${purchaseRef}`
}

/** Stores when the account is due. A purchase that begins or ends makes it due at once. */
export async function setPacksDue(
  sql: Queryable,
  providerId: string,
  { customerRef, productRef }: AccountName,
  dueAt: Date | null,
): Promise<void> {
  await sql`
    update pack_accounts set due_at = ${dueAt}
    where provider_id = ${providerId} and customer_ref = ${customerRef}
      and product_ref = ${productRef}`
}

/** Stores until when the account is settled. */
export async function setSettledTo(
  sql: Queryable,
  providerId: string,
  { customerRef, productRef }: AccountName,
  settledTo: Date,
): Promise<void> {
  await sql`
    update pack_accounts set settled_to = greatest(settled_to, ${settledTo})
    where provider_id = ${providerId} and customer_ref = ${customerRef}
      and product_ref = ${productRef}`
}

/** Stores that units of packs paid for usage. The caller has locked the account. */
export async function recordDraws(
  sql: Queryable,
  providerId: string,
  draws: readonly PackDraw[],
): Promise<void> {
  for (const { packRef, purchaseRef, periodStart, micros } of draws) {
    await sql`
      update packs set used_micros = used_micros + ${micros.toString()}
      where provider_id = ${providerId} and purchase_ref = ${packRef}`
    await sql`
      insert into pack_uses as used (provider_id, pack_ref, purchase_ref, period_start, micros)
      values (${providerId}, ${packRef}, ${purchaseRef}, ${periodStart}, ${micros.toString()})
      on conflict (provider_id, pack_ref, purchase_ref, period_start)
        do update set micros = used.micros + excluded.micros`
  }
}
