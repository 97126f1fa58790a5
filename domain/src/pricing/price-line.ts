import { creditsPerMinorUnit } from '../money/credits.ts'
import { minorPerMajor } from '../money/currencies.ts'
import { divideRounded, fractionOf, type Fraction } from '../money/decimal.ts'
import type {
  CreditConversion,
  DiscountCharge,
  LateUsageCharge,
  LineInputs,
  MinimumCharge,
  ProratedCharge,
  TaxCharge,
} from './line-inputs.ts'
import { isChargeTerms, type ChargeTerms } from './charge-terms.ts'
import { priceCharge } from './price-charge.ts'
import { priceUsage, type UnitsOfPeriod } from './price-usage.ts'
import { unitsOfCharge, unitsWithLate } from './units-of-charge.ts'
import type { UsageTerms } from './usage-terms.ts'

/** Amounts in minor units of the invoice's currency. */
export type PricedAmount = {
  /** Amount before rounding. */
  readonly exact: Fraction
  /** The exact amount, rounded half away from zero. A line is rounded only here. */
  readonly amountMinor: bigint
  /** `exact` minus `amountMinor`, in units of the denominator of `exact`. */
  readonly residualNumerator: bigint
}

/** Calculates the amount of a line from its inputs. All line amounts are calculated here. */
export function priceLine(inputs: LineInputs): PricedAmount {
  if (inputs.kind === 'late_usage' && inputs.billedMinor !== undefined) {
    return priceRest(inputs, BigInt(inputs.billedMinor))
  }
  return roundAmount(exactAmount(inputs))
}

/** Returns the rounded price of the whole period less what earlier lines charged. The price is rounded before the subtraction. */
function priceRest(inputs: LateUsageCharge, billedMinor: bigint): PricedAmount {
  const { terms, conversion } = inputs
  const whole = roundAmount(exactUsage(terms, unitsWithLate(inputs), conversion))
  const { numerator, denominator } = whole.exact
  return {
    ...whole,
    exact: { numerator: numerator - billedMinor * denominator, denominator },
    amountMinor: whole.amountMinor - billedMinor,
  }
}

function exactAmount(inputs: LineInputs): Fraction {
  switch (inputs.kind) {
    case 'recurring':
    case 'setup_fee':
    case 'one_time':
    case 'credits':
    case 'carried_in':
      return wholeAmount(BigInt(inputs.amountMinor))
    case 'add_on':
      return wholeAmount(BigInt(inputs.unitMinor) * BigInt(inputs.quantity))
    case 'item': {
      const { numerator, denominator } = fractionOf(inputs.quantity)
      return { numerator: BigInt(inputs.unitMinor) * numerator, denominator }
    }
    case 'usage': {
      return exactUsage(inputs.terms, unitsOfCharge(inputs), inputs.conversion)
    }
    case 'late_usage': {
      const { terms, conversion } = inputs
      const [billed, all] = [unitsOfCharge(inputs), unitsWithLate(inputs)]
      return difference(exactUsage(terms, all, conversion), exactUsage(terms, billed, conversion))
    }
    case 'minimum':
      return wholeAmount(minimumAmount(inputs))
    case 'proration':
      return proratedAmount(inputs)
    case 'discount':
      return discountAmount(inputs)
    case 'tax':
      return taxAmount(inputs)
  }
}

/** Returns the amount that the usage line of a period would have. Units are 10^-6. */
export function usageAmountMinor(
  terms: UsageTerms | ChargeTerms,
  units: UnitsOfPeriod,
  conversion: CreditConversion,
): bigint {
  return roundAmount(exactUsage(terms, units, conversion)).amountMinor
}

function exactUsage(
  terms: UsageTerms | ChargeTerms,
  units: UnitsOfPeriod,
  conversion: CreditConversion,
): Fraction {
  if (!isChargeTerms(terms)) return toMinor(priceUsage(terms, units), picosPerCredit, conversion)
  const attos = priceCharge(terms, units)
  return terms.rate.pricedIn === 'minor'
    ? { numerator: attos, denominator: attosPerOne }
    : toMinor(attos, attosPerOne, conversion)
}

/** Subtracts two prices of the same terms, which have the same denominator. */
function difference(one: Fraction, other: Fraction): Fraction {
  return { numerator: one.numerator - other.numerator, denominator: one.denominator }
}

const picosPerCredit = 1_000_000_000_000n
const attosPerOne = 1_000_000_000_000_000_000n
const centsPerDollar = 100n

/**
 * Converts a fraction of credits to minor units of the currency. Credits are worth US cents, which the rate converts. Nothing is
 * rounded.
 */
function toMinor(parts: bigint, partsPerCredit: bigint, conversion: CreditConversion): Fraction {
  const rate = fractionOf(conversion.unitsPerDollar)
  return {
    numerator: parts * rate.numerator * minorPerMajor(conversion.currency),
    denominator: partsPerCredit * creditsPerMinorUnit * centsPerDollar * rate.denominator,
  }
}

/** Converts an amount of the currency into 10^-12 credits, unrounded. */
export function picoCreditsOf(
  amountMinor: bigint,
  { currency, unitsPerDollar }: CreditConversion,
): Fraction {
  const rate = fractionOf(unitsPerDollar)
  return {
    numerator:
      amountMinor * picosPerCredit * creditsPerMinorUnit * centsPerDollar * rate.denominator,
    denominator: rate.numerator * minorPerMajor(currency),
  }
}

function proratedAmount(charge: ProratedCharge): Fraction {
  const [oldMinor, newMinor] = [BigInt(charge.oldMinor), BigInt(charge.newMinor)]
  switch (charge.policy) {
    case 'none':
      return wholeAmount(0n)
    case 'full':
      return wholeAmount(newMinor)
    case 'proportional':
      return {
        numerator: (newMinor - oldMinor) * BigInt(charge.secondsLeft),
        denominator: BigInt(charge.secondsInPeriod),
      }
  }
}

/** The prorated minimum is rounded before the subtraction, so that all lines of a period add up to it. */
function minimumAmount({ minimumMinor, countedMinor, billedMinor, ...of }: MinimumCharge): bigint {
  const seconds = [BigInt(of.secondsCharged), BigInt(of.secondsInPeriod)] as const
  const missingMinor =
    divideRounded(BigInt(minimumMinor) * seconds[0], seconds[1]) - BigInt(countedMinor)
  return (missingMinor > 0n ? missingMinor : 0n) - BigInt(billedMinor)
}

/** A discount takes off at most what it discounts, and nothing of a credit. */
function discountAmount(discount: DiscountCharge): Fraction {
  switch (discount.by) {
    case 'percent': {
      const percent = fractionOf(discount.percent)
      return {
        numerator: -positive(discount.baseMinor) * percent.numerator,
        denominator: percent.denominator * 100n,
      }
    }
    case 'amount': {
      const [baseMinor, offMinor] = [positive(discount.baseMinor), BigInt(discount.offMinor)]
      return wholeAmount(-(offMinor < baseMinor ? offMinor : baseMinor))
    }
    case 'proration':
      return {
        numerator:
          (BigInt(discount.oldMinor) - BigInt(discount.newMinor)) * BigInt(discount.secondsLeft),
        denominator: BigInt(discount.secondsInPeriod),
      }
    case 'credit':
      return {
        numerator: BigInt(discount.creditMinor) * BigInt(discount.offMinor),
        denominator: BigInt(discount.grossMinor),
      }
  }
}

function positive(minor: string): bigint {
  const amountMinor = BigInt(minor)
  return amountMinor > 0n ? amountMinor : 0n
}

function taxAmount({ baseMinor, ratePerMille, isInclusive }: TaxCharge): Fraction {
  return taxOnPrice(BigInt(baseMinor), ratePerMille, isInclusive)
}

/** Returns the unrounded tax on a price that includes it or not. The rate is decimal text, in tenths of a percent. */
export function taxOnPrice(
  priceMinor: bigint,
  ratePerMille: string,
  isInclusive: boolean,
): Fraction {
  const rate = fractionOf(ratePerMille)
  const whole = 1000n * rate.denominator
  return {
    numerator: priceMinor * rate.numerator,
    denominator: isInclusive ? whole + rate.numerator : whole,
  }
}

function wholeAmount(amountMinor: bigint): Fraction {
  return { numerator: amountMinor, denominator: 1n }
}

function roundAmount(exact: Fraction): PricedAmount {
  const amountMinor = divideRounded(exact.numerator, exact.denominator)
  return {
    exact,
    amountMinor,
    residualNumerator: exact.numerator - amountMinor * exact.denominator,
  }
}
