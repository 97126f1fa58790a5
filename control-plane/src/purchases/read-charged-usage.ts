import { sumSince } from '@tollgate/platform/hot-state/buckets'
import type { SeriesView } from '@tollgate/platform/hot-state/hot-state'
import {
  entitlementOfPeriod,
  hasCharges,
  metersToRead,
  type MeterUsage,
} from '@tollgate/domain/entitlements/charge-limits'
import { chargedUsage } from '@tollgate/domain/entitlements/charged-usage-view'
import { compileEntitlement } from '@tollgate/domain/entitlements/compile-entitlement'
import { sumBuckets } from '@tollgate/domain/entitlements/counted-usage-reader'
import { currentPeriod, windowOfPeriod } from '@tollgate/domain/entitlements/counting-windows'
import { packUnits } from '@tollgate/domain/entitlements/pack-units'
import { sumByKey } from '@tollgate/domain/entitlements/sum-by-key'
import type { PackAccount } from '@tollgate/domain/packs/repository'
import { usagePeriodAt, unixSeconds } from '@tollgate/domain/periods/periods'
import { planToBill } from '@tollgate/domain/overrides/overridden-plan'
import { billedCharges } from '@tollgate/domain/pricing/billed-charges'
import type { CreditConversion } from '@tollgate/domain/pricing/line-inputs'
import { rollOverSpan, rollsUnitsOver, unusedMicros } from '@tollgate/domain/pricing/roll-over'
import { cycleOf } from '@tollgate/domain/purchases/access'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { ChargeUsageBody, LimitUsageBody } from '@tollgate/schemas/http/charge-usage'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import type { Caller } from '../access/caller.ts'
import type { CounterParts } from '../limits/read-counters.ts'

/** Usage of a purchase of a plan with charges, in the period of `at`. */
type UsageToShow = {
  readonly purchase: Purchase
  /** Every reference of the customer. */
  readonly customerRefs: readonly string[]
  /** The customer's packs of the product; undefined if there are none. */
  readonly packs: PackAccount | undefined
  readonly at: Date
  /** Undefined if the currency has no rate. */
  readonly conversion: CreditConversion | undefined
}

export type ShownChargedUsage = {
  readonly charges: ChargeUsageBody[]
  readonly limits?: LimitUsageBody[]
}

/**
 * Returns the usage of each charge and limit as far as it has been counted, for display only. Undefined for a plan without charges, and
 * for a purchase without a period at the instant.
 */
export async function readChargedUsage(
  parts: Pick<CounterParts, 'hotState' | 'partitionCount'>,
  { environment, providerId }: Caller,
  { purchase, customerRefs, packs, at, conversion }: UsageToShow,
): Promise<ShownChargedUsage | undefined> {
  const { planSnapshot, productRef } = purchase
  if (planSnapshot?.terms.charges === undefined) return undefined
  const compiled = compileEntitlement(purchase, planSnapshot, { now: at, customerRefs, packs })
  const period = currentPeriod(compiled, at.getTime())
  const entitlement = period && entitlementOfPeriod(compiled, period)
  if (entitlement === undefined || !hasCharges(entitlement)) return undefined
  const nowSecond = unixSeconds(at)
  const meters = metersToRead(entitlement, undefined, nowSecond)
  const named = [...entitlement.charges, ...meters]
  const names = [...new Set(named.map(({ meterName }) => meterName))]
  const views = await Promise.all(
    customerRefs.map(async (reference) => {
      const subject = subjectKey(providerId, reference)
      const partition = partitionOf(subject, parts.partitionCount(environment))
      const key = { space: environment, partition, subject, scope: productRef }
      return parts.hotState.readEntrySeries(key, names)
    }),
  )
  const countersOf = (meterName: string): (SeriesView | undefined)[] =>
    views.map(({ series }) => series.get(meterName))
  const amountsOf = (meterName: string): Map<string, bigint> =>
    sumByKey(countersOf(meterName).flatMap((each) => each?.amounts ?? []))

  const window = windowOfPeriod(entitlement, period!.startSecond)
  const usedByMeter = new Map<string, MeterUsage>()
  for (const meterName of names) {
    const spans = meters.find((each) => each.meterName === meterName)?.spans ?? []
    const read = spans.map(({ id, specId, fromBucket }) => {
      const buckets = sumBuckets(countersOf(meterName), specId)
      return [id, { usedMicros: sumSince(buckets, fromBucket), buckets }] as const
    })
    const amounts = amountsOf(meterName)
    const ofPacks = packUnits(entitlement, meterName, period!, amounts, at.getTime())
    const periodMicros = amounts.get(window) ?? 0n
    usedByMeter.set(meterName, { periodMicros, spans: new Map(read), packs: ofPacks })
  }
  const { charges, limits } = chargedUsage({
    check: { entitlement, period: period!, nowSecond, usedByMeter },
    plan: planToBill(planSnapshot, purchase, {
      start: new Date(period!.startSecond * 1000),
      end: new Date(period!.endSecond * 1000),
    }),
    carriedOver: carriedOverByCharge(
      purchase,
      at,
      (meterName, startSecond) =>
        amountsOf(meterName).get(windowOfPeriod(entitlement, startSecond)) ?? 0n,
    ),
    conversion: isBilledAlone(purchase, period!.startSecond) ? conversion : undefined,
  })
  return { charges, ...(limits.length === 0 ? {} : { limits }) }
}

/** A trial is never billed, and the cost of a period that purchases share is not that of one of them. */
function isBilledAlone({ anchor, allowance, startDate }: Purchase, startSecond: number): boolean {
  if (startSecond < unixSeconds(anchor)) return false
  return allowance === null || startSecond !== unixSeconds(startDate)
}

/** Returns the included units of the previous period that were not used, by the key of the charge, 10^-6. */
function carriedOverByCharge(
  purchase: Purchase,
  at: Date,
  usedIn: (meterName: string, startSecond: number) => bigint,
): Map<string, bigint> {
  const carried = new Map<string, bigint>()
  const cycle = cycleOf(purchase)
  if (cycle === undefined || purchase.planSnapshot === null) return carried
  const { start } = usagePeriodAt(cycle, purchase.startDate, at)
  const isFirst = start <= purchase.startDate
  if (isFirst || !rollsUnitsOver(rollOverSpan(purchase), unixSeconds(start))) return carried
  const before = usagePeriodAt(cycle, purchase.startDate, new Date(start.getTime() - 1))
  for (const charge of billedCharges(planToBill(purchase.planSnapshot, purchase, before))) {
    const { key, meterName, rollOverMicros } = charge
    if (key === null || rollOverMicros === undefined) continue
    carried.set(key, unusedMicros(rollOverMicros, usedIn(meterName, unixSeconds(before.start))))
  }
  return carried
}
