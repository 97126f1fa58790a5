import { creditValueMinor } from '@tollgate/domain/money/credits'
import { microsOfDecimal } from '@tollgate/domain/money/decimal'
import { dollarRate, toFraction } from '@tollgate/domain/money/exchange-rates'
import { costsSomething, type Rate, type UsageTerms } from '@tollgate/domain/pricing/usage-terms'
import type { Reader } from '../reader.ts'

/** Returns the prices of usage that is billed at the end of a period. Returns an empty list if usage costs nothing. */
export function usagePrices(terms: UsageTerms, { t, formats }: Reader): string[] {
  if (!costsSomething(terms)) return []
  const { unitsPerPackage, rate } = terms
  const units = exampleUnits(rate)
  const priceOf = (creditsPerUnit: string): string => {
    const credits = (microsOfDecimal(creditsPerUnit) * units) / microsPerCredit
    return formats.money(creditValueMinor(credits, 'USD', toFraction(dollarRate)), 'USD')
  }
  const price =
    rate.kind === 'flat'
      ? t(flatKeys[freeUnitsKindOf(terms)], { units, price: priceOf(rate.creditsPerUnit) })
      : t((rate.kind === 'volume' ? volumeKeys : tieredKeys)[freeUnitsKindOf(terms)], {
          units,
          tiers: tierText(rate, priceOf, t),
        })
  return [
    price,
    ...(unitsPerPackage === undefined
      ? []
      : [t('checkout:packages', { count: Number(unitsPerPackage) })]),
    t('checkout:billedAtEnd'),
  ]
}

type FreeUnitsKind = 'nothing' | 'included' | 'free'

/** Returns the units that are free of charge before usage is billed: those included in the price, the free units, or none. */
function freeUnitsKindOf({ overage, freeUnits }: UsageTerms): FreeUnitsKind {
  if (overage !== undefined) return 'included'
  return freeUnits === '0' ? 'nothing' : 'free'
}

const flatKeys = {
  nothing: 'checkout:requestsCost',
  included: 'checkout:beyondIncludedCost',
  free: 'checkout:beyondFreeCost',
} as const

const tieredKeys = {
  nothing: 'checkout:tiers',
  included: 'checkout:beyondIncludedTiers',
  free: 'checkout:beyondFreeTiers',
} as const

const volumeKeys = {
  nothing: 'checkout:volume',
  included: 'checkout:beyondIncludedVolume',
  free: 'checkout:beyondFreeVolume',
} as const

function tierText(
  { tiers }: Exclude<Rate, { kind: 'flat' }>,
  priceOf: (creditsPerUnit: string) => string,
  t: Reader['t'],
): string {
  const words = tiers.map(({ upTo, creditsPerUnit }, index) => {
    const price = priceOf(creditsPerUnit)
    // The last tier has no end.
    const end = index === tiers.length - 1 ? null : upTo
    return end === null
      ? t('checkout:tierAbove', { price })
      : t('checkout:tierUpTo', { price, limit: Number(end) })
  })
  return words.join(t('checkout:tierSeparator'))
}

/**
 * Returns the number of requests for which prices are shown, because the price of a single request is usually far below one cent.
 * The number makes the price a whole number of cents if possible.
 */
function exampleUnits(rate: Rate): bigint {
  const rates = rate.kind === 'flat' ? [rate] : rate.tiers
  const isInTenths = rates.every(
    ({ creditsPerUnit }) => microsOfDecimal(creditsPerUnit) % 100_000n === 0n,
  )
  return isInTenths ? 1_000n : 1_000_000n
}

const microsPerCredit = 1_000_000n
