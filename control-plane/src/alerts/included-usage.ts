import { chargeKey } from '@tollgate/domain/plans/charge-key'
import type { PlanSnapshot } from '@tollgate/domain/plans/plan-snapshot'
import { partitionsOf } from '@tollgate/domain/billing/measure-usage'
import { billsAfterwards } from '@tollgate/domain/pricing/usage-terms'
import { sumStoredUsageByRow } from '@tollgate/domain/stored-usage/query-charged-usage'
import { countingWindows } from '@tollgate/domain/entitlements/counting-windows'
import { storedSoFar } from '@tollgate/domain/stored-usage/stored-up-to'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Charge } from '@tollgate/schemas/http/charges'
import { microsFromNumber } from '@tollgate/schemas/quantity'
import { usageTopic } from '@tollgate/schemas/topics'
import type { PeriodOfPurchase } from '../limits/period-usage.ts'
import type { WatchedPurchasePeriod } from './watched-periods.ts'

export type IncludedParts = {
  readonly eventLog: EventLog
  readonly usageStore: UsageStore
}

/** A charge that includes units in each period. */
export type IncludedCharge = {
  readonly key: string
  readonly meterName: string
  readonly where: Charge['where']
  /** 10^-6 units, without those carried over. */
  readonly includedMicros: bigint
}

export function includedCharges(plan: PlanSnapshot): IncludedCharge[] {
  if (!billsAfterwards(plan)) return []
  return (plan.terms.charges ?? []).flatMap((charge) => {
    const { included = 0, where, meter: meterName } = charge
    if (included <= 0) return []
    const includedMicros = BigInt(microsFromNumber(included)!)
    return [{ key: chargeKey(charge), meterName, where, includedMicros }]
  })
}

/**
 * Returns the usage of each charge in the period, 10^-6 units, as far as it is stored. A charge may count only records with some
 * dimensions, which counters do not distinguish.
 */
export async function readIncludedUsage(
  { eventLog, usageStore }: IncludedParts,
  { environment, providerId, productRef, nowMs }: PeriodOfPurchase,
  { entitlement, period }: WatchedPurchasePeriod,
  charges: readonly IncludedCharge[],
): Promise<bigint[]> {
  if (charges.length === 0) return []
  const { customerRefs, periods } = entitlement
  const partitionCount = eventLog.partitionCount(usageTopic(environment))
  const partitions = partitionsOf(providerId, customerRefs, partitionCount)
  const now = (): Date => new Date(nowMs)
  const stored = await storedSoFar({ eventLog }, environment, partitions, now)
  const at = periods.findIndex(({ startSecond }) => startSecond === period.startSecond)
  const window = countingWindows(entitlement)[at]!
  const records = { environment, providerId, customerRefs, productRef, rows: undefined }
  return Promise.all(
    charges.map(async ({ meterName, where }) => {
      const query = { ...records, meterName, where }
      const [sums] = await sumStoredUsageByRow(usageStore, query, [window], stored.parts)
      return sums![0]!
    }),
  )
}
