import { Rational } from './pricing-oracle.ts'

/*
 * An independent calculation of the price of a charge, from the description of charges in docs/plans.md. Shares no code with
 * `domain/src/pricing`. It asks of each stretch of usage what a unit in it costs, so it knows neither tiers of units nor a walk over
 * them.
 */

export type OracleTier = {
  readonly upTo: string | null
  readonly price: string
  readonly flatPrice?: string
}

export type OracleCharge = {
  readonly model: 'per_unit' | 'graduated' | 'volume' | 'package'
  /** Price of a unit or a package. */
  readonly price?: string
  readonly tiers?: readonly OracleTier[]
  readonly unitsPerPackage?: string
  readonly included?: string
  readonly cap?: string
}

const none = Rational.of(0n)

/**
 * Returns the price of the units after the first `before` units of a period, which earlier purchases used, before rounding and in
 * the unit of the prices.
 */
export function oracleChargePrice(
  charge: OracleCharge,
  usage: { readonly used: string; readonly carriedOver: string; readonly before: string },
): Rational {
  const [from, to] = pricedSpan(charge, usage)
  const units = to.minus(from)
  switch (charge.model) {
    case 'per_unit':
      return units.times(Rational.from(charge.price!))
    case 'package':
      return units
        .dividedBy(Rational.from(charge.unitsPerPackage!))
        .ceiling()
        .times(Rational.from(charge.price!))
    case 'graduated':
      return spansOf(charge.tiers!).reduce(
        (sum, span) => sum.plus(graduatedPrice(span, from, to)),
        none,
      )
    case 'volume': {
      const spans = spansOf(charge.tiers!)
      const reached = spans.find((span) => contains(span, to))!
      const isNew = !from.equals(to) && (from.equals(none) || !contains(reached, from))
      return units.times(reached.price).plus(isNew ? reached.flat : none)
    }
  }
}

/** Returns the price of a matrix: each row has its own units and price. */
export function oracleMatrixPrice(
  rows: readonly { readonly units: string; readonly price: string }[],
): Rational {
  return rows.reduce(
    (sum, { units, price }) => sum.plus(Rational.from(units).times(Rational.from(price))),
    none,
  )
}

/** Returns the priced units as positions after the included units: those of earlier purchases end where the own ones begin. */
function pricedSpan(
  { included = '0', cap = '0' }: OracleCharge,
  {
    used,
    carriedOver,
    before,
  }: { readonly used: string; readonly carriedOver: string; readonly before: string },
): readonly [Rational, Rational] {
  const [includedUnits, capUnits] = [Rational.from(included), Rational.from(cap)]
  // Units that were carried over raise the included units, and the cap with them.
  const carried =
    includedUnits.equals(none) && capUnits.equals(none) ? none : Rational.from(carriedOver)
  const free = includedUnits.equals(none) ? none : includedUnits.plus(carried)
  const end = capUnits.equals(none) ? undefined : capUnits.plus(carried)
  const position = (units: Rational): Rational => {
    const counted = end !== undefined && end.isLessThan(units) ? end : units
    return counted.isLessThan(free) ? none : counted.minus(free)
  }
  const first = Rational.from(before)
  return [position(first), position(first.plus(Rational.from(used)))]
}

type Span = {
  readonly start: Rational
  readonly end: Rational | undefined
  readonly price: Rational
  readonly flat: Rational
}

function spansOf(tiers: readonly OracleTier[]): Span[] {
  return tiers.map(({ upTo, price, flatPrice = '0' }, at) => ({
    start: at === 0 ? none : Rational.from(tiers[at - 1]!.upTo!),
    end: upTo === null ? undefined : Rational.from(upTo),
    price: Rational.from(price),
    flat: Rational.from(flatPrice),
  }))
}

/** Returns whether the last of that many units is in the span. */
function contains({ start, end }: Span, units: Rational): boolean {
  const isBehindStart = start.isLessThan(units) || (start.equals(none) && units.equals(none))
  return isBehindStart && (end === undefined || !end.isLessThan(units))
}

function graduatedPrice({ start, end, price, flat }: Span, from: Rational, to: Rational): Rational {
  const first = from.isLessThan(start) ? start : from
  const last = end !== undefined && end.isLessThan(to) ? end : to
  if (!first.isLessThan(last)) return none
  // The purchase that uses the first unit of the span pays its flat price.
  const isFirst = first.equals(start)
  return last
    .minus(first)
    .times(price)
    .plus(isFirst ? flat : none)
}
