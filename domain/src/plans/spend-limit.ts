import type { Charge } from '@tollgate/schemas/http/charges'
import type { UsageLimit } from '@tollgate/schemas/http/usage-limits'
import { microsFromNumber } from '@tollgate/schemas/quantity'
import { picosOfDecimal } from '../money/decimal.ts'

/*
 * A limit in credits or in money is counted in the units of its meter that the amount pays for. So it has the same counters, windows
 * and holds as a limit in units, and usage of many callers at once never exceeds it.
 */

/** Returns the limit in units of its meter, 10^-6. Null if the units cost nothing in the unit of the limit, so nothing is limited. */
export function unitsOfLimit(limit: UsageLimit, charges: readonly Charge[]): bigint | null {
  const amount = microsOf(limit.cap)
  if (limit.unit === undefined || limit.unit === 'units') return amount
  const priced = chargesOfLimit(limit, charges)
  const [charge] = priced
  if (charge === undefined) return null
  const prices = priced.map((each) => pricesOf(each, limit.unit))
  const rate = prices.reduce((sum, { picosPerMillion }) => sum + picosPerMillion, 0n)
  if (rate === 0n) return null
  const isAlone = priced.length === 1
  const included = isAlone && limit.per === 'period' ? microsOf(charge.included ?? 0) : 0n
  if (isAlone && charge.model === 'package') {
    // A started package costs as much as a whole one.
    const packages = (amount * picosPerMicro) / picosOf(charge, limit.unit)
    return included + packages * microsOf(charge.unitsPerPackage!)
  }
  const fixed = prices.reduce((sum, { fixedPicos }) => sum + fixedPicos, 0n)
  const left = amount * picosPerMicro - fixed
  return included + (left > 0n ? (left * micros * micros) / rate : 0n)
}

/** Returns the charges of the limit's meter that have a price in its unit. */
export function chargesOfLimit(
  { meter, unit }: Pick<UsageLimit, 'meter' | 'unit'>,
  charges: readonly Charge[],
): Charge[] {
  return charges.filter(
    (charge) => charge.meter === meter && pricedIn(charge, unit).some((text) => text !== undefined),
  )
}

const micros = 1_000_000n
const picosPerMicro = 1_000_000n

type Unit = UsageLimit['unit']

type Prices = {
  /** The highest price of a million units, 10^-12: prices of packages need not be whole for a unit. Rounded up. */
  readonly picosPerMillion: bigint
  /** What can be charged once in addition, 10^-12. */
  readonly fixedPicos: bigint
}

/** The price of a unit may depend on how much is used and by which dimensions, so the highest one is assumed. */
function pricesOf(charge: Charge, unit: Unit): Prices {
  const { model, tiers = [], unitsPerPackage = 1 } = charge
  const all = pricedIn(charge, unit).map((text) => picosOfDecimal(text ?? '0'))
  const highest = all.reduce((most, picos) => (picos > most ? picos : most), 0n)
  if (model === 'package') {
    const units = microsOf(unitsPerPackage)
    return { picosPerMillion: ceiling(highest * micros * micros, units), fixedPicos: highest }
  }
  const fixedPicos = tiers.reduce((sum, tier) => sum + picosOfDecimal(tier.flatPrice ?? '0'), 0n)
  return { picosPerMillion: highest * micros, fixedPicos }
}

function pricedIn(charge: Charge, unit: Unit): (string | undefined)[] {
  const { tiers = [], rows = [] } = charge
  return [charge, ...tiers, ...rows].map(({ price, creditsPerUnit }) =>
    unit === 'money' ? price : creditsPerUnit,
  )
}

function picosOf({ price, creditsPerUnit }: Charge, unit: Unit): bigint {
  return picosOfDecimal((unit === 'money' ? price : creditsPerUnit) ?? '0')
}

function ceiling(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor
}

function microsOf(units: number): bigint {
  return BigInt(microsFromNumber(units)!)
}
