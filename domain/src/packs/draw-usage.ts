import { unixSeconds } from '../periods/periods.ts'
import type { PlanCore } from '../plans/plan.ts'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import { drawPacks } from './draw-packs.ts'
import { excessMicros, type UsageAbovePlan } from './excess-units.ts'
import { openPacks } from './pack-balance.ts'
import type { PackAccount, PackDraw, PackUse } from './pack-account.ts'

/** Usage of a meter in a period of a purchase. */
export type UsageToDraw = {
  readonly purchase: PackUser
  readonly period: ChargedPeriod
  /** The plan with the units of the period. */
  readonly plan: PlanCore
  readonly meterName: string
  readonly usage: Omit<UsageAbovePlan, 'paidBeforeMicros'>
  /** At most so many units are drawn. Absent for any number. */
  readonly mostMicros?: bigint
}

/** The fields of a purchase that decide which uses of packs are in its periods. */
export type PackUser = {
  readonly reference: string
  readonly startDate: Date
  /** The allowance that its first period shares with earlier purchases; null if it shares none. */
  readonly allowance: { readonly since: Date } | null
}

/** Units that packs pay for in a period, 10^-6. */
export type PaidByPacks = {
  readonly paidMicros: bigint
  /** Units of earlier purchases in the shared allowance that packs paid for. */
  readonly paidBeforeMicros: bigint
}

export type Drawn = PaidByPacks & {
  readonly draws: readonly PackDraw[]
  /** The account after the draws. */
  readonly account: PackAccount
}

/**
 * Draws from the packs what earlier settlements of the period did not draw, and returns all that packs pay for. With the same usage
 * again it draws nothing. With late usage it draws the difference from what is left now.
 */
export function drawUsage(
  account: PackAccount,
  { purchase, period, plan, meterName, usage, mostMicros }: UsageToDraw,
): Drawn {
  const paid = paidIn(account.uses, purchase, period, meterName)
  const missing = excessMicros(plan, meterName, { ...usage, ...paid }) - paid.paidMicros
  const wanted = mostMicros !== undefined && mostMicros < missing ? mostMicros : missing
  const packs = openPacks(account).filter((pack) => pack.meterName === meterName)
  const draws = drawPacks(packs, period, wanted).map(({ pack, micros }): PackDraw => ({
    packRef: pack.purchaseRef,
    purchaseRef: purchase.reference,
    periodStart: period.start,
    micros,
  }))
  return {
    paidMicros: paid.paidMicros + sumOf(draws),
    paidBeforeMicros: paid.paidBeforeMicros,
    draws,
    account: accountAfter(account, draws, meterName),
  }
}

/**
 * Returns what packs have paid for in the period, and before it in the shared allowance. Uses of other purchases within the period
 * count: they belong to a change of plan that was undone. A purchase that replaces this one begins at its last second.
 */
export function paidIn(
  uses: readonly PackUse[],
  { reference, startDate, allowance }: PackUser,
  { start, end }: ChargedPeriod,
  meterName: string,
): PaidByPacks {
  const lastSecond = new Date(unixSeconds(end) * 1000)
  const isFirst = start.getTime() === startDate.getTime()
  const ofMeter = uses.filter((use) => use.meterName === meterName)
  const isOwn = (use: PackUse): boolean =>
    use.purchaseRef === reference && use.periodStart.getTime() === start.getTime()
  const isBefore = ({ periodStart }: PackUse): boolean =>
    allowance !== null && isFirst && periodStart >= allowance.since && periodStart < start
  const isWithin = ({ periodStart }: PackUse): boolean =>
    periodStart >= start && periodStart < lastSecond
  return {
    paidMicros: sumOf(ofMeter.filter((use) => isOwn(use) || isWithin(use))),
    paidBeforeMicros: sumOf(ofMeter.filter((use) => !isOwn(use) && isBefore(use))),
  }
}

function accountAfter(
  account: PackAccount,
  draws: readonly PackDraw[],
  meterName: string,
): PackAccount {
  if (draws.length === 0) return account
  const packs = account.packs.map((pack) => {
    const used = sumOf(draws.filter(({ packRef }) => packRef === pack.purchaseRef))
    return { ...pack, usedMicros: pack.usedMicros + used }
  })
  return {
    ...account,
    packs,
    uses: [...account.uses, ...draws.map((draw) => ({ ...draw, meterName }))],
  }
}

function sumOf(uses: readonly Pick<PackUse, 'micros'>[]): bigint {
  return uses.reduce((sum, { micros }) => sum + micros, 0n)
}
