import { minorPerMajor } from '@tollgate/domain/money/currencies'
import { decimalOfMicros, fractionOf, microsOfDecimal } from '@tollgate/domain/money/decimal'
import type {
  CreditConversion,
  LateUsageCharge,
  UsageCharge,
} from '@tollgate/domain/pricing/line-inputs'
import {
  billableMicros,
  countedMicros,
  pricedUnits,
  type PricedUnits,
  type UnitsOfPeriod,
} from '@tollgate/domain/pricing/price-usage'
import { unitsOfCharge, unitsWithLate } from '@tollgate/domain/pricing/units-of-charge'
import { documentText } from './document-words.ts'

/* Texts that explain how the amount of a usage line is computed, so that the customer can verify it. */

export type UsageTexts = {
  /** The usage and the part of it that is charged, one line each. */
  readonly details: readonly string[]
  /** Units and unit price of each price. Empty if nothing is charged. */
  readonly prices: readonly PriceTexts[]
}

export type PriceTexts = { readonly quantity: string; readonly unitPrice: string }

export function usageTexts(charge: UsageCharge): UsageTexts {
  const { terms, usedUnits, usedBeforeUnits, carriedOverUnits, reading, conversion } = charge
  const units = unitsOfCharge(charge)
  const counted = countedMicros(terms, units)
  const parts = [
    documentText('unitsOf', { units: unitsText(usedUnits), meter: reading.meterName }),
    counted < units.usedMicros && documentText('unitsCounted', { units: microsText(counted) }),
    terms.freeUnits !== '0' && documentText('unitsFree', { units: unitsText(terms.freeUnits) }),
    terms.limit !== null &&
      terms.overage !== undefined &&
      documentText('unitsIncluded', { units: unitsText(terms.limit) }),
    carriedOverUnits !== '0' &&
      documentText('unitsCarriedOver', { units: unitsText(carriedOverUnits) }),
    usedBeforeUnits !== undefined &&
      documentText('unitsUsedBefore', { units: unitsText(usedBeforeUnits) }),
  ]
  const summary = parts.filter((part) => part !== false).join(', ')
  const prices = pricesTexts(pricedUnits(terms, units), conversion)
  const packages = packagesTexts(charge, units)
  return { details: [summary, ...packages, ...rateTexts(prices, conversion)], prices }
}

/** Returns the texts about usage that was recorded late, and about what it adds to the amount already billed. */
export function lateUsageTexts(charge: LateUsageCharge): UsageTexts {
  const { terms, usedUnits, lateUnits, lateBeforeUnits, reading, conversion } = charge
  const before = pricedUnits(terms, unitsOfCharge(charge))
  const after = pricedUnits(terms, unitsWithLate(charge))
  const added = after.map(({ micros, creditsPerUnit }, at) => ({
    micros: micros - before[at]!.micros,
    creditsPerUnit,
  }))
  const prices = pricesTexts(added, conversion)
  const late = { units: unitsText(lateUnits), meter: reading.meterName }
  return {
    details: [
      documentText('unitsLate', { ...late, before: unitsText(usedUnits) }),
      ...(lateBeforeUnits === undefined
        ? []
        : [documentText('unitsLateBefore', { units: unitsText(lateBeforeUnits) })]),
      ...rateTexts(prices, conversion),
    ],
    prices,
  }
}

/** Formats units given as decimal text, such as `5,250.5`. Text keeps every digit. */
export function unitsText(units: string): string {
  return new Intl.NumberFormat('en-US', { maximumFractionDigits: 6 }).format(units as `${number}`)
}

/** Returns the text about packages. A package is charged completely as soon as it is begun. */
function packagesTexts({ terms }: UsageCharge, units: UnitsOfPeriod): string[] {
  const { unitsPerPackage } = terms
  const billable = billableMicros(terms, units)
  if (unitsPerPackage === undefined || billable === 0n) return []
  return [
    documentText('packages', { units: microsText(billable), size: unitsText(unitsPerPackage) }),
  ]
}

/** Returns one row for each price, such as `500` at `$0.005` and `1,500` at `$0.003`. Fewer units than before are negative. */
function pricesTexts(priced: readonly PricedUnits[], conversion: CreditConversion): PriceTexts[] {
  return priced
    .filter(({ micros }) => micros !== 0n)
    .map(({ micros, creditsPerUnit }) => ({
      quantity: microsText(micros),
      unitPrice: unitPriceText(creditsPerUnit, conversion),
    }))
}

/** Returns the text about the rate with which dollars were converted to the currency of the invoice. */
function rateTexts(
  prices: readonly PriceTexts[],
  { currency, unitsPerDollar }: CreditConversion,
): string[] {
  const isConverted = prices.length > 0 && currency !== 'USD'
  return isConverted ? [documentText('rate', { rate: unitsPerDollar, currency })] : []
}

/** Decimals of one credit, which is 10^-4 dollars, and of 10^-6 credits. */
const creditDecimals = 4
const microDecimals = 6

/** Formats the price of one unit without rounding, however small it is. */
function unitPriceText(creditsPerUnit: string, conversion: CreditConversion): string {
  const { currency, unitsPerDollar } = conversion
  const rate = fractionOf(unitsPerDollar)
  const digits = microsOfDecimal(creditsPerUnit) * rate.numerator
  const decimals = creditDecimals + microDecimals + rate.denominator.toString().length - 1
  return new Intl.NumberFormat('en-US', {
    style: 'currency',
    currency,
    minimumFractionDigits: minorPerMajor(currency) === 1n ? 0 : 2,
    maximumFractionDigits: decimalsMax,
  })
    .format(`${digits}e-${decimals}` as `${number}`)
    .replaceAll('\u00a0', ' ')
}

/** Maximum number of decimals that Intl accepts for this purpose. It is more than a rate and a price need together. */
const decimalsMax = 20

function microsText(micros: bigint): string {
  return unitsText(decimalOfMicros(micros))
}
