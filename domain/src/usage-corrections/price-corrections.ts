import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import { periodEndingAt } from '../billing/decide-usage-bill.ts'
import { measureStoredUsage } from '../billing/measure-usage.ts'
import { minimumLines } from '../billing/minimum-lines.ts'
import { payByPacks } from '../billing/pay-by-packs.ts'
import type { EarlierPeriod, UsageToBill } from '../billing/prepare-usage-bill.ts'
import { usageBillLines, type UsageToPrice } from '../billing/usage-lines.ts'
import { totalOf, type ChargedPeriod } from '../pricing/invoice-line.ts'
import type { StoredUpTo } from '../stored-usage/stored-up-to.ts'
import { withDifferences, type UsageDifference } from './change-usage.ts'
import type { CorrectedPurchase } from './read-corrected-purchases.ts'

/** What a correction costs in one period of a purchase. */
export type PricedCorrection = {
  readonly period: ChargedPeriod
  readonly state: 'open' | 'billed'
  /** In minor units of the purchase's currency, without tax. Negative for a credit. */
  readonly amountMinor: bigint
}

/**
 * Prices the differences by the functions that make bills: the usage of each period is priced as it is stored, and as it is with the
 * differences. `stored` says which records are stored, so that both have the same.
 */
export async function priceCorrections(
  usageStore: Pick<UsageStore, 'query'>,
  scope: { readonly environment: Environment; readonly providerId: string },
  corrected: CorrectedPurchase,
  differences: readonly UsageDifference[],
  stored: StoredUpTo,
): Promise<PricedCorrection[]> {
  const { billed, open, purchase } = corrected
  const { environment, providerId } = scope
  const { customerRefs, endOfPrevious } = corrected
  const price = async (
    period: ChargedPeriod | undefined,
    earlier: readonly EarlierPeriod[],
  ): Promise<bigint> => {
    const toMeasure = { purchase, period, earlier, endOfPrevious, customerRefs }
    const before = await measureStoredUsage(usageStore, environment, providerId, toMeasure, stored)
    const plan = purchase.planSnapshot!
    const after = withDifferences(before, purchase, plan, endOfPrevious, differences)
    // The late usage of the period before an open one has lines on another bill.
    const bill = { period, earlier: period === undefined ? earlier : [] }
    return priceOf(corrected, after, bill) - priceOf(corrected, before, bill)
  }
  const priced: PricedCorrection[] = []
  for (const period of billed) {
    const { start, end } = period
    const amountMinor = await price(undefined, [period])
    priced.push({ period: { start, end }, state: 'billed', amountMinor })
  }
  for (const period of open) {
    const previous = periodEndingAt(purchase, period.start)
    // Units that the period before leaves are carried over.
    const earlier = previous === undefined ? [] : [{ ...previous, billed: new Map() }]
    priced.push({ period, state: 'open', amountMinor: await price(period, earlier) })
  }
  return priced
}

function priceOf(
  { purchase, conversion, packs }: CorrectedPurchase,
  measured: UsageToPrice,
  bill: Pick<UsageToBill, 'period' | 'earlier'>,
): bigint {
  const plan = purchase.planSnapshot!
  const usage = bill.period === undefined ? measured : withoutLateUsage(measured)
  const paid = packs === undefined ? usage : payByPacks(packs, purchase, plan, usage).usage
  const lines = usageBillLines(purchase, plan, conversion, paid)
  const { end } = (bill.period ?? bill.earlier[0])!
  return totalOf([...lines, ...minimumLines(purchase, plan, bill, lines, end)])
}

/** All usage of the period before counts as billed, so that only the open period has lines. */
function withoutLateUsage(usage: UsageToPrice): UsageToPrice {
  return usage.map((charge) => ({
    ...charge,
    earlier: charge.earlier.map(({ period, billed, ...used }) => ({
      ...{ period, ...used },
      billed: { ...billed, ...used },
    })),
  }))
}
