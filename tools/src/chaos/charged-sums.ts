import { chargedMeters, grantedCredits, type ChargedMeter } from '../client/charged-product.ts'
import type { ChargedLedger, ChargedTotals } from '../load/charged-totals.ts'
import type { LoggedCharges } from './read-log.ts'

/** One customer's usage with several charges, as seen by each place. */
export type ChargedSums = Pick<ChargedLedger, 'customerRef' | 'isPrepaid' | 'sent' | 'acked'> & {
  readonly logged: LoggedCharges
  /** Records and debits in ClickHouse, without duplicates. */
  readonly stored: ChargedTotals
  /** Units in the roll-up of ClickHouse. */
  readonly rolledUp: ChargedTotals['units']
  /** Units that a limit check subtracted from the caps. */
  readonly counted: ChargedTotals['units']
  /** Whole credits that hot state has left in the wallet, and debits posted to the ledger in 10^-6. Undefined without a wallet. */
  readonly wallet: { readonly left: number; readonly postedMicros: bigint } | undefined
  /**
   * Hot state was lost. An ingest process that has not seen the wallet pay then records usage without a debit, until the customers are
   * published again (docs/decisions/wallets.md).
   */
  readonly mayBeUndebited: boolean
}

const microsPerCredit = 1_000_000n

/** Returns a line about what differs from the acknowledged usage, or undefined if every place agrees. */
export function findChargedDifference(sums: ChargedSums): string | undefined {
  const { acked, logged, mayBeUndebited } = sums
  const { undebited } = logged
  const debitMicros = acked.debitMicros - undebited.dueMicros
  const totals = (['sent', 'logged', 'stored'] as const).flatMap((place) => [
    ...wrongUnits(place, sums[place].units, acked.units),
    ...wrong(`records ${place}`, sums[place].records, acked.records),
    ...(place === 'sent' ? [] : wrong(`debits ${place}`, sums[place].debitMicros, debitMicros)),
  ])
  const units = (['rolledUp', 'counted'] as const).flatMap((place) =>
    wrongUnits(place, sums[place], acked.units),
  )
  const undebitedLine = `${undebited.records} records without a debit`
  const differences = [
    ...totals,
    ...units,
    ...(undebited.records === 0 || mayBeUndebited ? [] : [undebitedLine]),
    ...wrongWallet(sums, debitMicros),
  ]
  return differences.length === 0 ? undefined : `${sums.customerRef}: ${differences.join(', ')}`
}

function wrongUnits(
  place: string,
  units: Readonly<Record<ChargedMeter, number>>,
  acked: Readonly<Record<ChargedMeter, number>>,
): string[] {
  return chargedMeters.flatMap((meter) => wrong(`${meter} ${place}`, units[meter], acked[meter]))
}

function wrongWallet({ wallet }: ChargedSums, debitMicros: bigint): string[] {
  if (wallet === undefined) return []
  const leftMicros = BigInt(grantedCredits) * microsPerCredit - debitMicros
  return [
    ...wrong('debits posted', wallet.postedMicros, debitMicros),
    ...wrong('credits left', BigInt(wallet.left), leftMicros / microsPerCredit),
  ]
}

function wrong<Amount extends number | bigint>(
  name: string,
  amount: Amount,
  acked: Amount,
): string[] {
  return amount === acked ? [] : [`${name} ${amount} instead of ${acked}`]
}
