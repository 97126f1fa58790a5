import { measureStoredUsage, type UsageToMeasure } from '../billing/measure-usage.ts'
import { minimumLines } from '../billing/minimum-lines.ts'
import { payByPacks } from '../billing/pay-by-packs.ts'
import { usageBillLines, type UsageToPrice } from '../billing/usage-lines.ts'
import { snapshotOf, type PlanSnapshot } from '../plans/plan-snapshot.ts'
import { totalOf, type ChargedPeriod } from '../pricing/invoice-line.ts'
import { pricesAt } from '../purchases/offered-plan.ts'
import type { Purchase } from '../purchases/repository.ts'
import type { StoredUpTo } from '../stored-usage/stored-up-to.ts'
import type { PreviewAt, PreviewParts } from './preview-invoices.ts'
import type { HolderToPrice } from './read-holder.ts'

/** The price of a period without tax, in minor units of the purchase's currency. */
export type PeriodPrice = { readonly priceMinor: bigint; readonly usageMinor: bigint }

export type PricedHolder = {
  readonly purchase: Purchase
  /** The last complete period. Undefined if there is none yet: then no usage is priced. */
  readonly period: ChargedPeriod | undefined
  /** By the terms that the purchase keeps. Undefined if they have no price in its currency. */
  readonly before: PeriodPrice | undefined
  /** By the changed plan. Undefined if it has no price in the currency of the purchase. */
  readonly after: PeriodPrice | undefined
}

/** Prices the last complete period of a holder by the terms of the purchase, and by the changed plan. */
export async function priceHolder(
  parts: Pick<PreviewParts, 'usageStore'>,
  at: PreviewAt,
  holder: HolderToPrice,
  plan: PlanSnapshot,
  stored: StoredUpTo,
): Promise<PricedHolder> {
  const { purchase, period } = holder
  const price = async (by: PlanSnapshot | null): Promise<PeriodPrice | undefined> =>
    by === null ? undefined : pricePeriod(parts, at, holder, by, stored)
  const before = await price(purchase.planSnapshot)
  const after = await price(snapshotOf(plan))
  return { purchase, period, before, after }
}

async function pricePeriod(
  { usageStore }: Pick<PreviewParts, 'usageStore'>,
  { environment, providerId, now }: PreviewAt,
  holder: HolderToPrice,
  plan: PlanSnapshot,
  stored: StoredUpTo,
): Promise<PeriodPrice | undefined> {
  const { period, conversion, packs } = holder
  const purchase = { ...holder.purchase, planSnapshot: plan }
  // Both are priced as in the last complete period, or as in the running one if there is none.
  const prices = pricesAt(purchase, period?.start ?? now)
  if (prices === undefined || conversion === undefined) return undefined
  const { priceMinor } = prices
  if (period === undefined) return { priceMinor, usageMinor: 0n }
  const toMeasure = usageToMeasure(holder, purchase)
  const measured = withoutLateUsage(
    await measureStoredUsage(usageStore, environment, providerId, toMeasure, stored),
  )
  const usage = packs === undefined ? measured : payByPacks(packs, purchase, plan, measured).usage
  const lines = usageBillLines(purchase, plan, conversion, usage)
  const bill = { period, continued: undefined, leastMinor: undefined, earlier: [] }
  const minimum = minimumLines(purchase, plan, bill, lines, period.end)
  return { priceMinor, usageMinor: totalOf([...lines, ...minimum]) }
}

function usageToMeasure(
  { period, before, endOfPrevious, customerRefs }: HolderToPrice,
  purchase: Purchase,
): UsageToMeasure {
  const earlier = before === undefined ? [] : [{ ...before, billed: new Map() }]
  return { purchase, period, earlier, endOfPrevious, customerRefs }
}

/** The period before is only read for the units that it leaves, so all of its usage counts as billed. */
function withoutLateUsage(usage: UsageToPrice): UsageToPrice {
  return usage.map((charge) => ({
    ...charge,
    earlier: charge.earlier.map(({ period, billed, ...used }) => ({
      ...{ period, ...used },
      billed: { ...billed, ...used },
    })),
  }))
}
