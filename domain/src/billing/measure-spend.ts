import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import { microsPerUnit } from '@tollgate/schemas/quantity'
import { purchasePeriodAt } from '../entitlements/compile-entitlement.ts'
import { creditsPerMinorUnit } from '../money/credits.ts'
import { minorPerMajor } from '../money/currencies.ts'
import { fractionOf } from '../money/decimal.ts'
import type { Period } from '../periods/periods.ts'
import type { PackAccount } from '../packs/repository.ts'
import { isPrePaid } from '../plans/plan.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { billsUsage } from '../pricing/billed-charges.ts'
import { totalOf } from '../pricing/invoice-line.ts'
import type { CreditConversion } from '../pricing/line-inputs.ts'
import type { Purchase } from '../purchases/repository.ts'
import { billedWindowOf } from '../purchases/usage-windows.ts'
import { sumStoredDebitsOfProduct } from '../stored-usage/query-stored-usage.ts'
import { requireComparedStore } from '../stored-usage/store-incarnation.ts'
import type { StoredUpTo } from '../stored-usage/stored-up-to.ts'
import { measureStoredUsage } from './measure-usage.ts'
import { payByPacks } from './pay-by-packs.ts'
import { usageBillLines, type UsageToPrice } from './usage-lines.ts'

export type SpendToMeasure = {
  readonly purchase: Purchase
  readonly plan: PlanSnapshot
  readonly period: Period
  /** End of the customer's previous purchase of the product. */
  readonly endOfPrevious: Date | undefined
  readonly customerRefs: readonly string[]
  /** The customer's packs of the product; undefined if there are none. */
  readonly packs: PackAccount | undefined
  readonly conversion: CreditConversion
}

export type SpendParts = {
  readonly eventLog: Pick<EventLog, 'partitionCount' | 'head' | 'position'>
  readonly usageStore: Pick<UsageStore, 'query'>
}

/**
 * Returns what the stored usage of a period costs, in minor units: the sum of its usage lines if it were billed now, or the
 * credits that the wallet has paid. Units that packs pay for cost nothing. It contains neither the plan's own price nor tax, and nothing of a trial, which is not billed.
 * Usage that is not stored yet is missing, so the result is never more than the true cost at a price that does not fall with
 * volume.
 */
export async function measureSpend(
  { usageStore }: SpendParts,
  environment: Environment,
  providerId: string,
  spend: SpendToMeasure,
  stored: StoredUpTo,
): Promise<bigint> {
  const { purchase, plan, period, endOfPrevious, customerRefs, packs, conversion } = spend
  if (isPrePaid(plan)) {
    const { productRef } = purchase
    const records = { environment, providerId, customerRefs, productRef }
    const window = billedWindowOf(purchase, period, endOfPrevious)
    const micros = await sumStoredDebitsOfProduct(usageStore, records, window, stored.parts)
    await requireComparedStore(usageStore, environment, stored.notes)
    return creditsInMinor(micros, conversion)
  }
  if (period.index < 0 || !billsUsage(plan)) return 0n
  const earlier = previousPeriods(purchase, plan, period)
  const toMeasure = { purchase, period, earlier, endOfPrevious, customerRefs }
  const usage = await measureStoredUsage(usageStore, environment, providerId, toMeasure, stored)
  const unpaid = packs === undefined ? usage : payCurrentByPacks(packs, purchase, plan, usage)
  const lines = usageBillLines(purchase, plan, conversion, unpaid)
  return totalOf(lines.filter(({ inputs }) => inputs.kind === 'usage'))
}

/** Returns the usage with the units that packs pay for in the period. What they paid for in earlier ones is settled on its own. */
function payCurrentByPacks(
  packs: PackAccount,
  purchase: Purchase,
  plan: PlanSnapshot,
  usage: UsageToPrice,
): UsageToPrice {
  const settled = usage.map((charge) => ({
    ...charge,
    earlier: charge.earlier.map(({ billed, ...used }) => ({
      ...used,
      billed: { ...billed, usedMicros: used.usedMicros },
    })),
  }))
  return payByPacks(packs, purchase, plan, settled).usage
}

/** Units may roll over from the previous period, whether or not it is billed already. */
function previousPeriods(purchase: Purchase, plan: PlanSnapshot, { start }: Period) {
  if (start <= purchase.startDate) return []
  const before = purchasePeriodAt(purchase, plan, new Date(start.getTime() - 1))
  return [{ start: before.start, end: before.end, billed: new Map() }]
}

const centsPerDollar = 100n

/** Returns the value of 10^-6 credits, rounded down so that a budget is never reached early. */
function creditsInMinor(micros: bigint, { currency, unitsPerDollar }: CreditConversion): bigint {
  const { numerator, denominator } = fractionOf(unitsPerDollar)
  const dividend = micros * numerator * minorPerMajor(currency)
  return dividend / (BigInt(microsPerUnit) * creditsPerMinorUnit * centsPerDollar * denominator)
}
