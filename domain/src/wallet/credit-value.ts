import { divideRounded } from '../money/decimal.ts'
import type { Burn } from './burn-order.ts'
import type { CreditGrant } from './grants.ts'
import type { MoneyAccount, MoneyEntry } from '../money-ledger/ledger.ts'

/**
 * Returns the money entries for credits that are taken from grants. Their paid value is no longer owed and moves from `prepaid` to
 * the account `to`. Entries are reversed for credits that are put back. The value of a grant is rounded on the running total taken
 * from it, so parts add up to what was paid for it, to the minor unit.
 */
export function valueEntries(
  grants: readonly CreditGrant[],
  burns: readonly Burn[],
  to: MoneyAccount,
): MoneyEntry[] {
  const values = new Map<string, bigint>()
  for (const { grantRef, micros } of burns) {
    const grant = grants.find(({ reference }) => reference === grantRef)
    if (grant === undefined) throw new Error(`grant ${grantRef} is missing`)
    if (grant.paid === null) continue
    const { currency } = grant.paid
    const consumedMicros = grant.grantedMicros - grant.remainingMicros
    const valueMinor =
      consumedValue(grant, consumedMicros + micros) - consumedValue(grant, consumedMicros)
    values.set(currency, (values.get(currency) ?? 0n) + valueMinor)
  }
  return [...values]
    .filter(([, amountMinor]) => amountMinor !== 0n)
    .flatMap(([currency, amountMinor]) => [
      { account: 'prepaid', currency, amountMinor },
      { account: to, currency, amountMinor: -amountMinor },
    ])
}

/** Returns the paid value of the part of a grant that is gone. Minor units. */
function consumedValue({ paid, grantedMicros }: CreditGrant, consumedMicros: bigint): bigint {
  return paid === null ? 0n : divideRounded(paid.amountMinor * consumedMicros, grantedMicros)
}
