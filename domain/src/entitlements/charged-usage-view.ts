import type { EntitledLimit } from '@tollgate/schemas/hot-state/documents'
import type { ChargeUsageBody, LimitUsageBody } from '@tollgate/schemas/http/charge-usage'
import type { Charge } from '@tollgate/schemas/http/charges'
import { numberFromMicros } from '@tollgate/schemas/quantity'
import { decimalOfUnits } from '../money/decimal.ts'
import { unixSeconds } from '../periods/periods.ts'
import type { PlanCore } from '../plans/plan.ts'
import { billedCharges } from '../pricing/billed-charges.ts'
import type { CreditConversion } from '../pricing/line-inputs.ts'
import { usageAmountMinor } from '../pricing/price-line.ts'
import { highestRatePicos } from './charge-debits.ts'
import { limitStates, type ChargeCheck, type LimitState } from './charge-limits.ts'
import { farFuture } from './compile-entitlement.ts'

export type ChargedUsageView = {
  /** The usage of every meter that the charges and limits name, whatever the wallet has. */
  readonly check: Omit<ChargeCheck, 'meterName' | 'creditMicros'>
  /** The plan by which the period is billed. */
  readonly plan: PlanCore
  /** Units carried over into the period by the key of the charge, 10^-6. */
  readonly carriedOver: ReadonlyMap<string, bigint>
  /** Undefined if no cost is known: the currency has no rate, a trial is not billed, or purchases share the period. */
  readonly conversion: CreditConversion | undefined
}

/** Returns the usage of each charge and limit of a purchase: a view of the counters, never a source for other values. */
export function chargedUsage(view: ChargedUsageView): {
  charges: ChargeUsageBody[]
  limits: LimitUsageBody[]
} {
  const states = limitStates({ ...view.check, meterName: undefined, creditMicros: 0n })
  const ofLimits = states.filter(({ charge }) => charge === undefined)
  const charges = (view.plan.terms.charges ?? []).map((charge, at) =>
    chargeUsage(charge, states[at]!, view),
  )
  const { limits = [] } = view.check.entitlement
  return { charges, limits: ofLimits.map((state, at) => limitUsage(state, limits[at]!)) }
}

function chargeUsage(charge: Charge, state: LimitState, view: ChargedUsageView): ChargeUsageBody {
  const { key, meterName, capMicros, usedMicros } = state
  const { displayName, included = 0, rollover = false, where } = charge
  const carriedOver = view.carriedOver.get(key) ?? 0n
  return {
    charge: key,
    ...(displayName === undefined ? {} : { displayName }),
    meterName,
    ...(where === undefined ? { used: numberFromMicros(usedMicros) } : {}),
    ...(included === 0 ? {} : { included }),
    ...(rollover && where === undefined ? { carriedOver: numberFromMicros(carriedOver) } : {}),
    ...(capMicros === null ? {} : capFields(capMicros, usedMicros)),
    // The price of filters and rows depends on dimensions, which counters do not have.
    ...(where === undefined && charge.model !== 'matrix' ? costOf(state, view, carriedOver) : {}),
    ...resetFields(view.check.period.endSecond),
  }
}

function costOf(
  { key, charge, usedMicros, packMicros = 0n }: LimitState,
  { plan, conversion }: ChargedUsageView,
  carriedOverMicros: bigint,
): Pick<ChargeUsageBody, 'cost' | 'credits'> {
  if (charge?.debit !== undefined) {
    return { credits: decimalOfUnits(usedMicros * highestRatePicos(charge.debit), 18) }
  }
  const billed = billedCharges(plan).find((each) => each.key === key)
  if (billed === undefined || conversion === undefined) return {}
  const units = { usedMicros: usedMicros - packMicros, carriedOverMicros }
  return { cost: Number(usageAmountMinor(billed.terms, units, conversion)) }
}

function limitUsage(
  { key, meterName, capMicros, usedMicros, resetsAtSecond }: LimitState,
  { window }: EntitledLimit,
): LimitUsageBody {
  return {
    limit: key,
    meterName,
    per: window.kind,
    ...(window.kind === 'rolling' ? { rollingSeconds: window.seconds } : {}),
    used: numberFromMicros(usedMicros),
    ...capFields(capMicros!, usedMicros),
    ...resetFields(resetsAtSecond!),
  }
}

function capFields(capMicros: bigint, usedMicros: bigint) {
  const remaining = usedMicros >= capMicros ? 0 : numberFromMicros(capMicros - usedMicros)
  return { cap: numberFromMicros(capMicros), remaining }
}

function resetFields(second: number): { resetsAt?: string } {
  if (second >= unixSeconds(farFuture)) return {}
  return { resetsAt: new Date(second * 1000).toISOString() }
}
