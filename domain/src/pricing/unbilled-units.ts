import { microsOfDecimal, type Fraction } from '../money/decimal.ts'
import { priceUsage, unpricedMicros, type PicoCredits } from './price-usage.ts'
import type { Rate, UsageTerms } from './usage-terms.ts'

/**
 * Returns how many units of a period (10^-6) cost at most an amount of credits (10^-12, as a fraction because of the exchange
 * rate). None of the units up to that number makes the period cost more. Free and included units are added. With volume pricing the
 * price falls where a cheaper tier begins, but units after the first one that exceeds the amount are not admitted. The plan's limit
 * and its overage maximum are ignored, because they are separate caps. Undefined if no usage reaches the amount.
 */
export function unitsWithinAmount(terms: UsageTerms, amount: Fraction): bigint | undefined {
  const { unitsPerPackage, rate } = terms
  // Without packages, usage is priced in steps of 10^-6 units.
  const stepMicros = unitsPerPackage === undefined ? 1n : microsOfDecimal(unitsPerPackage)
  const reached = unitsReaching(rate, divideUp(amount.numerator, amount.denominator), stepMicros)
  if (reached === undefined) return undefined
  const isExceeded = priceOf(rate, reached) * amount.denominator > amount.numerator
  return unpricedMicros(terms, 0n) + (isExceeded ? reached - stepMicros : reached)
}

/** Returns the smallest number of priced units, in whole steps, that costs at least the price. */
function unitsReaching(rate: Rate, price: PicoCredits, stepMicros: bigint): bigint | undefined {
  if (rate.kind === 'volume') return unitsReachingByVolume(rate, price, stepMicros)
  const tiers = rate.kind === 'flat' ? [{ ...rate, upTo: null }] : rate.tiers
  let before = 0n
  for (const { start, end, rateMicros } of rateSpansOf(tiers)) {
    if (rateMicros > 0n) {
      const reached = start + divideUp(price - before, rateMicros)
      if (end === undefined || reached <= end) return wholeSteps(reached, stepMicros)
    }
    if (end === undefined) return undefined
    before += (end - start) * rateMicros
  }
  return undefined
}

function unitsReachingByVolume(
  { tiers }: Extract<Rate, { tiers: unknown }>,
  price: PicoCredits,
  stepMicros: bigint,
): bigint | undefined {
  for (const { start, end, rateMicros } of rateSpansOf(tiers)) {
    if (rateMicros > 0n) {
      const reached = wholeSteps(larger(divideUp(price, rateMicros), start + 1n), stepMicros)
      if (end === undefined || reached <= end) return reached
    }
    if (end === undefined) return undefined
  }
  return undefined
}

type Tiers = Extract<Rate, { tiers: unknown }>['tiers']

/** Units from `start` up to `end` (10^-6) with the same rate. `end` is undefined for the last stretch. */
type RateSpan = {
  readonly start: bigint
  readonly end: bigint | undefined
  readonly rateMicros: bigint
}

/** Returns one stretch for each tier, in order. The last one has no end. */
function rateSpansOf(tiers: Tiers): RateSpan[] {
  let start = 0n
  return tiers.map(({ upTo, creditsPerUnit }, index) => {
    const isOpen = upTo === null || index === tiers.length - 1
    const end = isOpen ? undefined : larger(microsOfDecimal(upTo), start)
    const span = { start, end, rateMicros: microsOfDecimal(creditsPerUnit) }
    start = end ?? start
    return span
  })
}

function priceOf(rate: Rate, micros: bigint): PicoCredits {
  return priceUsage({ limit: null, freeUnits: '0', rate }, { usedMicros: micros })
}

function wholeSteps(micros: bigint, stepMicros: bigint): bigint {
  return divideUp(micros, stepMicros) * stepMicros
}

function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}

/** Divides positive numbers and rounds up. */
function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor
}
