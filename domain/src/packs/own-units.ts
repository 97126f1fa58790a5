import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { microsFromNumber } from '@tollgate/schemas/quantity'
import { effectiveCap } from '../plans/plan-cap.ts'
import type { PlanCore } from '../plans/plan.ts'
import { billedCharges, type BilledCharge } from '../pricing/billed-charges.ts'
import { unpricedMicros } from '../pricing/price-usage.ts'

/**
 * Returns the units of a period that a plan provides before packs are used, 10^-6: those that are free or included if usage is
 * billed afterwards, otherwise the cap. Null if the plan provides any number, so that packs are never used.
 */
export function ownMicros(
  plan: PlanCore,
  meterName: string,
  carriedOverMicros = 0n,
): bigint | null {
  const billed = billedCharges(plan).filter((charge) => isPaidByPacks(charge, meterName))
  if (billed.length === 0) return capMicros(plan, meterName, carriedOverMicros)
  const unpriced = billed.map(({ terms }) => unpricedMicros(terms, carriedOverMicros))
  return unpriced.reduce((most, each) => (each > most ? each : most))
}

/**
 * Returns whether units of packs pay for usage of the charge. They count whole meters, so a charge with a filter or a matrix, which
 * prices records by their dimensions, is billed as without packs.
 */
export function isPaidByPacks({ meterName, where, terms }: BilledCharge, ofPack: string): boolean {
  return meterName === ofPack && where === undefined && terms.rate.kind !== 'matrix'
}

/** Returns the charge whose included units roll over. Those of the other charges of a meter do not add to them. */
export function rollingCharge(charges: readonly BilledCharge[]): BilledCharge | undefined {
  return charges.find(({ rollOverMicros }) => rollOverMicros !== undefined)
}

function capMicros(plan: PlanCore, meterName: string, carriedOverMicros: bigint): bigint | null {
  const { charges } = plan.terms
  if (charges === undefined) {
    return meterName === requestsMeterName ? effectiveCap(plan, carriedOverMicros) : null
  }
  const capped = charges.find(({ meter, cap = 0 }) => meter === meterName && cap > 0)
  return capped === undefined ? null : BigInt(microsFromNumber(capped.cap!)!)
}
