import { creditValueMinor } from '@tollgate/domain/money/credits'
import { picosOfDecimal } from '@tollgate/domain/money/decimal'
import { dollarRate, toFraction } from '@tollgate/domain/money/exchange-rates'
import { chargeKey } from '@tollgate/domain/plans/charge-key'
import { chargeTermsOf, type ChargeTerms } from '@tollgate/domain/pricing/charge-terms'
import type { Charge } from '@tollgate/schemas/http/charges'
import type { Reader } from '../reader.ts'

/** Returns what a customer should know about one charge of a plan: its included units, its cap and its price. */
export function chargeFacts(charge: Charge, currency: string, reader: Reader): string[] {
  const { t } = reader
  const name = charge.displayName ?? chargeKey(charge)
  const { included = 0, cap = 0 } = charge
  const terms = chargeTermsOf(charge)
  return [
    ...(included > 0 ? [t('checkout:chargeIncludes', { units: included, name })] : []),
    ...(cap > 0 ? [t('checkout:chargeUpTo', { units: cap, name })] : []),
    ...(terms === undefined ? [] : priceFacts(name, terms, charge, currency, reader)),
  ]
}

function priceFacts(
  name: string,
  { rate }: ChargeTerms,
  { unitsPerPackage }: Charge,
  currency: string,
  { t, formats }: Reader,
): string[] {
  const prices = (
    rate.kind === 'matrix'
      ? [rate.price, ...rate.rows.map((row) => row.price)]
      : rate.tiers.map((tier) => tier.price)
  ).map(picosOfDecimal)
  if (prices.every((price) => price === 0n)) return []
  const units = prices.some((price) => price % picosPerOne !== 0n) ? manyUnits : 1n
  const least = prices.reduce((one, other) => (other < one ? other : one))
  const minor = (least * units) / picosPerOne
  const price =
    rate.pricedIn === 'minor'
      ? formats.money(minor, currency)
      : formats.money(creditValueMinor(minor, 'USD', toFraction(dollarRate)), 'USD')
  const shown = { units: Number(units) * (unitsPerPackage ?? 1), name, price }
  return [
    prices.every((each) => each === least)
      ? t('checkout:chargeCosts', shown)
      : t('checkout:chargeCostsFrom', shown),
  ]
}

/** Units for which a price is shown that is no whole number, because it is usually far below one cent. */
const manyUnits = 1_000_000n
const picosPerOne = 1_000_000_000_000n
