import type { Queryable } from '@tollgate/platform/database/database'
import { selectKeys, type CustomerKey } from '../customers/repository.ts'

/** Amounts in 10^-6 credits. */
export type Wallet = {
  /** All credits ever added, minus those removed for reasons other than usage. */
  readonly grantedMicros: bigint
  /** All credits ever removed for reasons other than usage. */
  readonly removedMicros: bigint
  /** Balance in the ledger, where usage is posted a little later than it happens. */
  readonly balanceMicros: bigint
}

type WalletRow = { granted_micros: string; removed_micros: string; balance_micros: string }

/** Returns a customer's wallet and locks it, which orders all postings of the wallet. Creates the wallet if there is none. */
export async function lockWallet(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  now: Date,
): Promise<Wallet> {
  await sql`
    insert into wallets (provider_id, customer_ref, created_at, updated_at)
    values (${providerId}, ${customerRef}, ${now}, ${now}) on conflict do nothing`
  const [row] = await sql<WalletRow[]>`
    select granted_micros, removed_micros, balance_micros from wallets
    where provider_id = ${providerId} and customer_ref = ${customerRef} for update`
  return fromRow(row!)
}

export async function findWallet(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<Wallet | undefined> {
  const [row] = await sql<WalletRow[]>`
    select granted_micros, removed_micros, balance_micros from wallets
    where provider_id = ${providerId} and customer_ref = ${customerRef}`
  return row === undefined ? undefined : fromRow(row)
}

export async function updateWallet(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  { grantedMicros, removedMicros, balanceMicros }: Wallet,
  now: Date,
): Promise<void> {
  await sql`
    update wallets set granted_micros = ${grantedMicros.toString()},
      removed_micros = ${removedMicros.toString()}, balance_micros = ${balanceMicros.toString()}, updated_at = ${now}
    where provider_id = ${providerId} and customer_ref = ${customerRef}`
}

/** Returns whether any wallet exists. */
export async function hasWallets(sql: Queryable): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`select exists (select from wallets) as found`
  return row!.found
}

/**
 * Returns what is to be published of the customers' wallets, keyed by the customer's own reference. Customers without a wallet are
 * left out.
 */
export async function listPublishedWallets(
  sql: Queryable,
  customers: readonly CustomerKey[],
  removedSince: Date,
): Promise<Map<string, WalletToPublish>> {
  const rows = await sql<
    { customer_ref: string; granted_micros: string; removed_micros: string; removals: string[] }[]
  >`
    select customer_ref, granted_micros, removed_micros, array(
      select transaction_key from ledger_transactions as removed
      where removed.provider_id = wallets.provider_id
        and removed.customer_ref = wallets.customer_ref
        and kind in ('adjustment', 'expiry', 'take_back')
        and removed.created_at > ${removedSince}
      order by removed.created_at
    ) as removals
    from wallets
    where (provider_id, customer_ref) in (${selectKeys(sql, customers)})`
  return new Map(
    rows.map(({ customer_ref, granted_micros, removed_micros, removals }) => {
      const grantedMicros = BigInt(granted_micros)
      const removedMicros = BigInt(removed_micros)
      return [customer_ref, { grantedMicros, removedMicros, removals }]
    }),
  )
}

export type WalletToPublish = Pick<Wallet, 'grantedMicros' | 'removedMicros'> & {
  /**
   * Keys of the transactions since `removedSince` that removed credits other than by usage, including all manual adjustments.
   */
  readonly removals: readonly string[]
}

function fromRow({ granted_micros, removed_micros, balance_micros }: WalletRow): Wallet {
  return {
    grantedMicros: BigInt(granted_micros),
    removedMicros: BigInt(removed_micros),
    balanceMicros: BigInt(balance_micros),
  }
}
