import type { StoredDebit } from '@tollgate/domain/wallet/debits'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'

export type OffsetRange = {
  readonly partition: number
  readonly fromOffset: number
  /** End of the range, exclusive. */
  readonly toOffset: number
}

/** Returns the debits of wallets for the usage records of a partition, in the order of the log. */
export async function listStoredDebits(
  store: Pick<UsageStore, 'query'>,
  environment: Environment,
  { partition, fromOffset, toOffset }: OffsetRange,
  rowsMax: number,
): Promise<(StoredDebit & { readonly offset: number })[]> {
  const rows = await store.query<{
    offset: string
    providerId: string
    customerRef: string
    productRef: string
    micros: string
  }>(
    `SELECT log_offset AS offset, provider_id AS providerId, customer_ref AS customerRef,
       product_ref AS productRef, toString(toInt128(debit * 1000000)) AS micros
     FROM ${environment}.credit_debits FINAL
     WHERE log_partition = {partition:UInt32}
       AND log_offset >= {fromOffset:UInt64} AND log_offset < {toOffset:UInt64}
     ORDER BY log_offset LIMIT {rowsMax:UInt32}`,
    { partition, fromOffset, toOffset, rowsMax },
  )
  return rows.map(({ offset, micros, ...wallet }) => {
    return { ...wallet, offset: Number(offset), micros: BigInt(micros) }
  })
}
