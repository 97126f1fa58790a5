import type { ChargeDraft } from './charge-draft.ts'
import type { Plan } from './plan.ts'

/** Distances between the points of a curve. */
const steps = 40

/** Returns the units whose price is shown: evenly from 0 to the maximum, and the chosen ones. */
export function pricedUnits(unitsMax: number, units: number): readonly number[] {
  const even = Array.from({ length: steps + 1 }, (_, index) =>
    Math.round((unitsMax * index) / steps),
  )
  return [...new Set([...even, units])].sort((one, other) => one - other)
}

const unitsMaxDefault = 10_000

/** Returns units of the meter beyond which the price has no further step. */
export function unitsMaxOf(
  plan: Pick<Plan, 'limit' | 'freeUnits'>,
  charges: readonly ChargeDraft[],
  meter: string,
): number {
  const bounds = charges
    .filter((charge) => charge.meter === meter)
    .flatMap(({ included, cap, tiers, unitsPerPackage }) => {
      const tierBounds = tiers.map(({ upTo }) => Number(upTo) + Number(included))
      return [Number(included), Number(cap), Number(unitsPerPackage) * 5, ...tierBounds]
    })
  const requests = charges.length === 0 ? [plan.limit ?? 0, plan.freeUnits ?? 0] : []
  const last = Math.max(0, ...[...bounds, ...requests].filter((each) => Number.isFinite(each)))
  return last === 0 ? unitsMaxDefault : Math.ceil(last * 2)
}
