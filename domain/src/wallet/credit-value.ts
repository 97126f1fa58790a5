import { divideRounded } from '../money/decimal.ts'
import type { Burn } from './burn-order.ts'
import type { CreditGrant } from './grants.ts'
import type { MoneyAccount, MoneyEntry } from '../money-ledger/ledger.ts'

/**
 * What was paid for credits that are taken of grants: it is owed for no longer, and goes to the account of what became of
 * them. Below nothing for credits that are put back. Each grant is worth what was paid for it, rounded once for all that
 * is gone of it: so what went in parts adds up to that, to the minor unit.
 */
export function valueEntries(
  grants: readonly CreditGrant[],
  burns: readonly Burn[],
  to: MoneyAccount,
): MoneyEntry[] {
  const values = new Map<string, bigint>()
  for (const { grantRef, micros } of burns) {
    const grant = grants.find(({ reference }) => reference === grantRef)
    if (grant === undefined) throw new Error(`grant ${grantRef} is not among those it is taken of`)
    if (grant.paid === null) continue
    const { currency } = grant.paid
    const goneMicros = grant.grantedMicros - grant.remainingMicros
    const valueMinor = valueGone(grant, goneMicros + micros) - valueGone(grant, goneMicros)
    values.set(currency, (values.get(currency) ?? 0n) + valueMinor)
  }
  return [...values]
    .filter(([, amountMinor]) => amountMinor !== 0n)
    .flatMap(([currency, amountMinor]) => [
      { account: 'prepaid', currency, amountMinor },
      { account: to, currency, amountMinor: -amountMinor },
    ])
}

/** Of what was paid for a grant, when so much of it is gone. */
function valueGone({ paid, grantedMicros }: CreditGrant, goneMicros: bigint): bigint {
  return paid === null ? 0n : divideRounded(paid.amountMinor * goneMicros, grantedMicros)
}
