import { carriedOverInto, type PricedPurchase } from './usage-lines.ts'
import type { ChargeUsage, UsageToPrice, UsedPeriod } from './usage-lines.ts'
import { planToBill } from '../overrides/overridden-plan.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { billedCharges } from '../pricing/billed-charges.ts'
import { drawUsage, type PackUser } from '../packs/draw-usage.ts'
import type { PackDraw } from '../packs/pack-account.ts'
import { isPaidByPacks, rollingCharge } from '../packs/own-units.ts'
import type { PackAccount } from '../packs/repository.ts'

export type PaidUsage = {
  /** The usage with the units that packs pay for. */
  readonly usage: UsageToPrice
  /** Draws for late usage, and for usage of a period that is billed before its end. */
  readonly draws: readonly PackDraw[]
  /** The account after these draws. */
  readonly account: PackAccount
}

/**
 * Returns the measured usage of a bill with the units that packs pay for. The usage of a period is settled at its end, before it is
 * billed. What arrived after that is drawn from what is left now, oldest period first, and the rest of it is billed.
 */
export function payByPacks(
  account: PackAccount,
  purchase: PricedPurchase & PackUser,
  plan: PlanSnapshot,
  usage: UsageToPrice,
): PaidUsage {
  let paid: PaidUsage = { usage, draws: [], account }
  for (const meterName of new Set(account.packs.map((pack) => pack.meterName))) {
    const charges = billedCharges(plan).filter((charge) => isPaidByPacks(charge, meterName))
    const keys = new Set(charges.map(({ key }) => key))
    const measured = rollingCharge(charges) ?? charges[0]
    const first = usage.find(({ key }) => key === measured?.key)
    if (first === undefined) continue
    paid = payForMeter(paid, { purchase, plan, meterName, keys, first })
  }
  return paid
}

type MeterOfBill = {
  readonly purchase: PricedPurchase & PackUser
  readonly plan: PlanSnapshot
  readonly meterName: string
  /** The charges of the meter. They all have the same usage. */
  readonly keys: ReadonlySet<string | null>
  /** The usage of the charge whose units roll over, otherwise of the first one. */
  readonly first: ChargeUsage
}

function payForMeter(
  before: PaidUsage,
  { purchase, plan, meterName, keys, first }: MeterOfBill,
): PaidUsage {
  let { account } = before
  const draws = [...before.draws]
  const units = new Map<number, Pick<UsedPeriod, 'packMicros' | 'usedBeforeMicros'>>()
  const pay = (used: UsedPeriod, carriedOverMicros: bigint, mostMicros?: bigint): void => {
    const { period, usedMicros, usedBeforeMicros } = used
    const own = planToBill(plan, purchase, period)
    const measured = { usedMicros, usedBeforeMicros, carriedOverMicros }
    const bound = mostMicros === undefined ? {} : { mostMicros }
    const given = { purchase, period, plan: own, meterName, usage: measured, ...bound }
    const drawn = drawUsage(account, given)
    account = drawn.account
    draws.push(...drawn.draws)
    const unpaidBefore = usedBeforeMicros - drawn.paidBeforeMicros
    units.set(period.start.getTime(), {
      packMicros: drawn.paidMicros,
      usedBeforeMicros: unpaidBefore > 0n ? unpaidBefore : 0n,
    })
  }
  for (const { billed, ...used } of first.earlier.toReversed()) {
    const late = used.usedMicros - billed.usedMicros
    pay(used, billed.carriedOverMicros, late > 0n ? late : 0n)
  }
  const { current } = first
  if (current !== undefined) {
    pay(current, carriedOverInto(purchase, plan, first.key, current.period, first.earlier))
  }
  const withUnits = <Used extends UsedPeriod>(used: Used): Used => ({
    ...used,
    ...units.get(used.period.start.getTime()),
  })
  const usage = before.usage.map((charge) =>
    keys.has(charge.key)
      ? {
          ...charge,
          current: charge.current && withUnits(charge.current),
          earlier: charge.earlier.map(withUnits),
        }
      : charge,
  )
  return { usage, draws, account }
}
