import { formatMoney, minorPerMajor } from '@tollgate/domain/money/currencies'
import { decimalOfMicros, fractionOf, picosOfDecimal } from '@tollgate/domain/money/decimal'
import { isChargeTerms, type ChargeTerms } from '@tollgate/domain/pricing/charge-terms'
import type {
  CreditConversion,
  LateUsageCharge,
  UsageCharge,
} from '@tollgate/domain/pricing/line-inputs'
import { partsOfUsage, type PricedPart } from '@tollgate/domain/pricing/price-charge'
import {
  billableMicros,
  countedMicros,
  type UnitsOfPeriod,
} from '@tollgate/domain/pricing/price-usage'
import { unitsOfCharge, unitsWithLate } from '@tollgate/domain/pricing/units-of-charge'
import type { UsageTerms } from '@tollgate/domain/pricing/usage-terms'
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
  // Packs pay for units of their own, which the plan neither counts nor prices.
  const { usedMicros, packMicros = 0n } = units
  const counted = countedMicros(terms, units) + packMicros
  const parts = [
    documentText('unitsOf', { units: unitsText(usedUnits), meter: reading.meterName }),
    counted < usedMicros && documentText('unitsCounted', { units: microsText(counted) }),
    terms.freeUnits !== '0' && documentText('unitsFree', { units: unitsText(terms.freeUnits) }),
    terms.limit !== null &&
      terms.overage !== undefined &&
      documentText('unitsIncluded', { units: unitsText(terms.limit) }),
    carriedOverUnits !== '0' &&
      documentText('unitsCarriedOver', { units: unitsText(carriedOverUnits) }),
    usedBeforeUnits !== undefined &&
      documentText('unitsUsedBefore', { units: unitsText(usedBeforeUnits) }),
    packMicros > 0n && documentText('unitsOfPacks', { units: microsText(packMicros) }),
  ]
  const summary = parts.filter((part) => part !== false).join(', ')
  const prices = pricesTexts(partsOfUsage(terms, units), terms, conversion)
  const packages = packagesTexts(charge, units)
  return { details: [summary, ...packages, ...rateTexts(prices, conversion, terms)], prices }
}

/** Returns the texts about usage that was recorded late, and about what it adds to the amount already billed. */
export function lateUsageTexts(charge: LateUsageCharge): UsageTexts {
  const { terms, usedUnits, lateUnits, lateBeforeUnits, latePackUnits, reading } = charge
  const { conversion, billedMinor, lateCarriedOverUnits } = charge
  const before = partsOfUsage(terms, unitsOfCharge(charge))
  const after = partsOfUsage(terms, unitsWithLate(charge))
  const added = after.map(({ micros, ...part }, at) => ({
    ...part,
    micros: micros - before[at]!.micros,
    flatPrice: differenceOf(part.flatPrice, before[at]!.flatPrice),
  }))
  const prices = pricesTexts(added, terms, conversion)
  const [units, billedUnits] = [unitsText(lateUnits), unitsText(usedUnits)]
  const late = { units, meter: reading.meterName, before: billedUnits }
  return {
    details: [
      // The line is the price of the whole period less this amount, which can differ from its own units by a rounding.
      billedMinor === undefined
        ? documentText('unitsLate', late)
        : documentText('unitsSinceBill', {
            ...late,
            amount: formatMoney(BigInt(billedMinor), conversion.currency),
          }),
      ...(lateCarriedOverUnits === undefined
        ? []
        : [documentText('carriedOverChange', { units: unitsText(lateCarriedOverUnits) })]),
      ...(lateBeforeUnits === undefined
        ? []
        : [documentText('unitsLateBefore', { units: unitsText(lateBeforeUnits) })]),
      ...(latePackUnits === undefined
        ? []
        : [documentText('unitsLateOfPacks', { units: unitsText(latePackUnits) })]),
      ...rateTexts(prices, conversion, terms),
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

type Terms = UsageTerms | ChargeTerms

/** Returns the part of a tier's flat price that late usage adds or, with volume prices, takes away. */
function differenceOf(after: string, before: string): string {
  if (after === before) return '0'
  return before === '0' ? after : `-${before}`
}

/**
 * Returns one row for each price, such as `500` at `$0.005` and `1,500` at `$0.003`, and for each flat price of a tier. Fewer units
 * than before are negative.
 */
function pricesTexts(
  parts: readonly PricedPart[],
  terms: Terms,
  conversion: CreditConversion,
): PriceTexts[] {
  return parts.flatMap(({ micros, price, flatPrice }) => [
    ...(micros === 0n
      ? []
      : [{ quantity: microsText(micros), unitPrice: priceTextOf(price, terms, conversion) }]),
    ...(flatPrice === '0'
      ? []
      : [{ quantity: '1', unitPrice: priceTextOf(flatPrice, terms, conversion) }]),
  ])
}

function priceTextOf(price: string, terms: Terms, conversion: CreditConversion): string {
  if (isChargeTerms(terms) && terms.rate.pricedIn === 'minor') {
    const minorDecimals = minorPerMajor(conversion.currency).toString().length - 1
    return decimalMoney(picosOfDecimal(price), picoDecimals + minorDecimals, conversion.currency)
  }
  return unitPriceText(price, conversion)
}

/** Returns the text about the rate with which dollars were converted to the currency of the invoice. */
function rateTexts(
  prices: readonly PriceTexts[],
  { currency, unitsPerDollar }: CreditConversion,
  terms: Terms,
): string[] {
  const isMoney = isChargeTerms(terms) && terms.rate.pricedIn === 'minor'
  const isConverted = prices.length > 0 && currency !== 'USD' && !isMoney
  return isConverted ? [documentText('rate', { rate: unitsPerDollar, currency })] : []
}

/** Decimals of one credit, which is 10^-4 dollars, and of 10^-12 credits. */
const creditDecimals = 4
const picoDecimals = 12

/** Formats the price of one unit with up to 20 decimals, which only a long price at a long exchange rate exceeds. */
function unitPriceText(creditsPerUnit: string, conversion: CreditConversion): string {
  const { currency, unitsPerDollar } = conversion
  const rate = fractionOf(unitsPerDollar)
  const digits = picosOfDecimal(creditsPerUnit) * rate.numerator
  const decimals = creditDecimals + picoDecimals + rate.denominator.toString().length - 1
  return decimalMoney(digits, decimals, currency)
}

/** Formats 10^-`decimals` of the currency without trailing zeros. */
function decimalMoney(digits: bigint, decimals: number, currency: string): string {
  return new Intl.NumberFormat('en-US', {
    style: 'currency',
    currency,
    minimumFractionDigits: minorPerMajor(currency) === 1n ? 0 : 2,
    maximumFractionDigits: decimalsMax,
  })
    .format(`${digits}e-${decimals}` as `${number}`)
    .replaceAll('\u00a0', ' ')
}

/** Maximum number of decimals that Intl accepts for this purpose. */
const decimalsMax = 20

function microsText(micros: bigint): string {
  return unitsText(decimalOfMicros(micros))
}
