/*
 * An independent calculation of usage prices in exact fractions, directly from the plan. Shares no code with
 * `domain/src/pricing`.
 */

/** A fraction in lowest terms with a positive denominator. */
export class Rational {
  readonly over: bigint
  readonly under: bigint

  private constructor(over: bigint, under: bigint) {
    this.over = over
    this.under = under
  }

  static of(over: bigint, under = 1n): Rational {
    const divisor = greatestDivisor(over < 0n ? -over : over, under)
    return new Rational(over / divisor, under / divisor)
  }

  /** Parses decimal text. */
  static from(text: string): Rational {
    const [whole = '0', decimals = ''] = text.split('.')
    return Rational.of(BigInt(whole + decimals), 10n ** BigInt(decimals.length))
  }

  plus(other: Rational): Rational {
    return Rational.of(this.over * other.under + other.over * this.under, this.under * other.under)
  }

  minus(other: Rational): Rational {
    return this.plus(Rational.of(-other.over, other.under))
  }

  times(other: Rational): Rational {
    return Rational.of(this.over * other.over, this.under * other.under)
  }

  dividedBy(other: Rational): Rational {
    return Rational.of(this.over * other.under, this.under * other.over)
  }

  isLessThan(other: Rational): boolean {
    return this.over * other.under < other.over * this.under
  }

  equals(other: Rational): boolean {
    return this.over === other.over && this.under === other.under
  }

  /** Returns the smallest integer that is not less. */
  ceiling(): Rational {
    const down = this.over / this.under
    return Rational.of(down * this.under < this.over ? down + 1n : down)
  }

  /** Rounds to the nearest integer, half away from zero. */
  nearest(): bigint {
    const isNegative = this.over < 0n
    const magnitude = isNegative ? -this.over : this.over
    const whole = magnitude / this.under
    const rest = magnitude % this.under
    const rounded = rest + rest >= this.under ? whole + 1n : whole
    return isNegative ? -rounded : rounded
  }
}

function greatestDivisor(one: bigint, other: bigint): bigint {
  return other === 0n ? one : greatestDivisor(other, one % other)
}

const none = Rational.of(0n)

/** Numbers as in a plan. Absent fields were omitted. */
export type OraclePlan = {
  readonly type: 'usage-based' | 'hybrid'
  readonly limit?: string
  readonly freeUnits?: string
  readonly creditsPerUnit?: string
  readonly unitsPerPackage?: string
  readonly tierMode?: 'graduated' | 'volume'
  /** Tiers in order, each ending where the next one begins. The last one has no end, even if it states one. */
  readonly tiers?: readonly { readonly upTo?: string; readonly creditsPerUnit: string }[]
  readonly overage?: { readonly rate?: string; readonly max?: string }
}

export type OracleCurrency = { readonly unitsPerDollar: string; readonly decimals: 0 | 2 }

/** Returns the price before rounding, in the smallest unit of the currency. */
export function oraclePrice(
  plan: OraclePlan,
  used: string,
  carriedOver: string,
  { unitsPerDollar, decimals }: OracleCurrency,
): Rational {
  const units = packaged(plan, pricedUnits(plan, Rational.from(used), Rational.from(carriedOver)))
  // 10,000 credits are worth 1 dollar.
  const dollars = creditsFor(plan, units).dividedBy(Rational.of(10_000n))
  const major = dollars.times(Rational.from(unitsPerDollar))
  return major.times(Rational.of(10n ** BigInt(decimals)))
}

/** Returns how much of [0, used] lies in the priced range. */
function pricedUnits(plan: OraclePlan, used: Rational, carriedOver: Rational): Rational {
  const free = known(plan.freeUnits)
  const written = known(plan.limit)
  const limit = written.equals(none) ? undefined : written.plus(carriedOver)
  if (plan.type === 'hybrid' && plan.overage !== undefined) {
    const from = (limit ?? none).plus(free)
    const max = known(plan.overage.max)
    return overlap(used, from, max.equals(none) ? undefined : from.plus(max))
  }
  return overlap(used, free, limit)
}

/** Returns the length of the intersection of [0, used] and [from, to]. */
function overlap(used: Rational, from: Rational, to: Rational | undefined): Rational {
  const end = to !== undefined && to.isLessThan(used) ? to : used
  return end.isLessThan(from) ? none : end.minus(from)
}

function packaged({ unitsPerPackage }: OraclePlan, units: Rational): Rational {
  if (unitsPerPackage === undefined) return units
  const size = Rational.from(unitsPerPackage)
  return units.dividedBy(size).ceiling().times(size)
}

function creditsFor(plan: OraclePlan, units: Rational): Rational {
  const { tiers = [] } = plan
  if (tiers.length === 0) {
    const isOverage = plan.type === 'hybrid' && plan.overage?.rate !== undefined
    return units.times(known(isOverage ? plan.overage.rate : plan.creditsPerUnit))
  }
  if (plan.tierMode === 'volume') {
    const reached = tiers.find(
      ({ upTo }, at) =>
        upTo === undefined || at === tiers.length - 1 || !Rational.from(upTo).isLessThan(units),
    )
    return units.times(Rational.from(reached!.creditsPerUnit))
  }
  // After each boundary, the price per unit changes by the difference of the two rates.
  return tiers.reduce((credits, tier, at) => {
    const border = at === 0 ? none : Rational.from(tiers[at - 1]!.upTo!)
    const before = at === 0 ? none : Rational.from(tiers[at - 1]!.creditsPerUnit)
    const behind = overlap(units, border, undefined)
    return credits.plus(behind.times(Rational.from(tier.creditsPerUnit).minus(before)))
  }, none)
}

function known(text: string | undefined): Rational {
  return text === undefined ? none : Rational.from(text)
}
