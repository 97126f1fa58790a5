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

/* How a line of usage comes to its amount, so that whoever pays it can work it out. */

/** Lines of text: what was used, and what of it was priced how. */
export function usageTexts(charge: UsageCharge): string[] {
  const { terms, usedUnits, usedBeforeUnits, carriedOverUnits, reading, conversion } = charge
  const units = unitsOfCharge(charge)
  const counted = countedMicros(terms, units)
  const parts = [
    `${unitsText(usedUnits)} ${reading.meterName}`,
    counted < units.usedMicros && `${microsText(counted)} of them counted`,
    terms.freeUnits !== '0' && `${unitsText(terms.freeUnits)} free`,
    terms.limit !== null && terms.overage !== undefined && `${unitsText(terms.limit)} included`,
    carriedOverUnits !== '0' && `${unitsText(carriedOverUnits)} carried over`,
    usedBeforeUnits !== undefined && `${unitsText(usedBeforeUnits)} used before the plan change`,
  ]
  const what = parts.filter((part) => part !== false).join(', ')
  const priced = pricedUnits(terms, units)
  return [what, ...packagesTexts(charge, units), ...pricesTexts(priced, conversion)]
}

/** Lines of text: what came late, and what more it costs. */
export function lateUsageTexts(charge: LateUsageCharge): string[] {
  const { terms, usedUnits, lateUnits, lateBeforeUnits, reading, conversion } = charge
  const before = pricedUnits(terms, unitsOfCharge(charge))
  const after = pricedUnits(terms, unitsWithLate(charge))
  const more = after.map(({ micros, creditsPerUnit }, at) => ({
    micros: micros - before[at]!.micros,
    creditsPerUnit,
  }))
  return [
    `${unitsText(lateUnits)} ${reading.meterName} beyond ${unitsText(usedUnits)}`,
    ...(lateBeforeUnits === undefined
      ? []
      : [`${unitsText(lateBeforeUnits)} more used before the plan change`]),
    ...pricesTexts(more, conversion),
  ]
}

/** Of decimal text, as which no digit is lost: `5,250.5`. */
export function unitsText(units: string): string {
  return new Intl.NumberFormat('en-US', { maximumFractionDigits: 6 }).format(units as `${number}`)
}

/** Units are priced in packages: of one that was begun all. */
function packagesTexts({ terms }: UsageCharge, units: UnitsOfPeriod): string[] {
  const { unitsPerPackage } = terms
  const billable = billableMicros(terms, units)
  if (unitsPerPackage === undefined || billable === 0n) return []
  return [`${microsText(billable)} in packages of ${unitsText(unitsPerPackage)}`]
}

/** `500 × $0.005 + 1,500 × $0.003`, and how dollars became the currency. None where nothing is priced. */
function pricesTexts(priced: readonly PricedUnits[], conversion: CreditConversion): string[] {
  const terms = priced.filter(({ micros }) => micros !== 0n)
  if (terms.length === 0) return []
  const prices = terms.map(({ micros, creditsPerUnit }, at) => {
    const [units, sign] = micros < 0n ? [-micros, '− '] : [micros, at === 0 ? '' : '+ ']
    return `${sign}${microsText(units)} × ${unitPriceText(creditsPerUnit, conversion)}`
  })
  const { currency, unitsPerDollar } = conversion
  const rate = currency === 'USD' ? [] : [`at 1 USD = ${unitsPerDollar} ${currency}`]
  return [prices.join(' '), ...rate]
}

/** Of a credit, a ten-thousandth of a dollar, and of 10^-6 of one: so many decimals. */
const creditDecimals = 4
const microDecimals = 6

/** Not rounded, however small it is. */
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

/** More than any rate and any price have together; what Intl takes. */
const decimalsMax = 20

function microsText(micros: bigint): string {
  return unitsText(decimalOfMicros(micros))
}
