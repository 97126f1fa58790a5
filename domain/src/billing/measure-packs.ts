import type { Environment } from '@tollgate/schemas/environment'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { usageTopic } from '@tollgate/schemas/topics'
import { partitionsOf, type MeasuringParts } from './measure-usage.ts'
import { unixSeconds, usagePeriodAt } from '../periods/periods.ts'
import { planToBill } from '../overrides/overridden-plan.ts'
import { isPaidByPacks, rollingCharge } from '../packs/own-units.ts'
import { billedCharges } from '../pricing/billed-charges.ts'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import {
  rollOverLimitMicros,
  rollOverSpan,
  rollsUnitsOver,
  unusedMicros,
} from '../pricing/roll-over.ts'
import { cycleOf } from '../purchases/access.ts'
import type { Purchase } from '../purchases/purchase.ts'
import { billedWindowOf, windowBefore } from '../purchases/usage-windows.ts'
import { sumStoredUsageByWindow, type UsageWindow } from '../stored-usage/query-stored-usage.ts'
import { requireComparedStore } from '../stored-usage/store-incarnation.ts'
import { waitUntilStored, type StoredUpTo } from '../stored-usage/stored-up-to.ts'
import type { UsedSpan } from './decide-pack-settlement.ts'
import type { UsageAbovePlan } from '../packs/excess-units.ts'

/** What is read before the usage of a span is summed up. */
export type PacksToMeasure = {
  readonly used: UsedSpan
  readonly meterNames: readonly string[]
  /** End of the customer's previous purchase of the product. */
  readonly endOfPrevious: Date | undefined
  readonly customerRefs: readonly string[]
}

/** Usage by meter. */
export type MeasuredSpan = ReadonlyMap<string, Omit<UsageAbovePlan, 'paidBeforeMicros'>>

/**
 * Sums up the usage of a span from the raw records, once the usage store has everything that was acknowledged before. Throws
 * UsageBehindError while it has not.
 */
export async function measurePacks(
  { eventLog, usageStore, now, storedWaitMs }: MeasuringParts,
  environment: Environment,
  providerId: string,
  toMeasure: PacksToMeasure,
): Promise<MeasuredSpan> {
  const partitionCount = eventLog.partitionCount(usageTopic(environment))
  const partitions = partitionsOf(providerId, toMeasure.customerRefs, partitionCount)
  const sides = { eventLog, usageStore }
  const stored = await waitUntilStored(sides, environment, partitions, now, storedWaitMs)
  return measureStoredPacks(usageStore, environment, providerId, toMeasure, stored)
}

/** Sums up what is stored. It is less than what was acknowledged if `stored` ends before the log does. */
export async function measureStoredPacks(
  usageStore: MeasuringParts['usageStore'],
  environment: Environment,
  providerId: string,
  { used: { purchase, period }, meterNames, endOfPrevious, customerRefs }: PacksToMeasure,
  stored: StoredUpTo,
): Promise<MeasuredSpan> {
  const measured = new Map<string, Omit<UsageAbovePlan, 'paidBeforeMicros'>>()
  const sum = async (meterName: string, window: UsageWindow | undefined): Promise<bigint> => {
    if (window === undefined) return 0n
    const { productRef } = purchase
    const query = { environment, providerId, productRef, customerRefs, meterName }
    const [micros] = await sumStoredUsageByWindow(usageStore, query, [window], stored.parts)
    return micros!
  }
  for (const meterName of meterNames) {
    const sumIn = (of: ChargedPeriod): Promise<bigint> =>
      sum(meterName, billedWindowOf(purchase, of, endOfPrevious))
    const sumBefore = (of: ChargedPeriod): Promise<bigint> =>
      sum(meterName, windowBefore(purchase, of, endOfPrevious))
    const from = periodRolledOver(purchase, period)
    const limit = from && rollOverLimitOf(purchase, from, meterName)
    const carriedOverMicros =
      from === undefined || limit === undefined
        ? 0n
        : unusedMicros(limit, (await sumIn(from)) + (await sumBefore(from)))
    measured.set(meterName, {
      usedMicros: await sumIn(period),
      usedBeforeMicros: await sumBefore(period),
      carriedOverMicros,
    })
  }
  await requireComparedStore(usageStore, environment, stored.notes)
  return measured
}

/** Returns the period whose unused units are carried over into this one. Undefined if there is none. */
function periodRolledOver(purchase: Purchase, { start }: ChargedPeriod): ChargedPeriod | undefined {
  const cycle = cycleOf(purchase)
  if (cycle === undefined || start <= purchase.startDate) return undefined
  if (!rollsUnitsOver(rollOverSpan(purchase), unixSeconds(start))) return undefined
  return usagePeriodAt(cycle, purchase.startDate, new Date(start.getTime() - 1))
}

function rollOverLimitOf(
  purchase: Purchase,
  period: ChargedPeriod,
  meterName: string,
): bigint | undefined {
  if (purchase.planSnapshot === null) return undefined
  const plan = planToBill(purchase.planSnapshot, purchase, period)
  const charges = billedCharges(plan).filter((each) => isPaidByPacks(each, meterName))
  if (charges.length > 0) return rollingCharge(charges)?.rollOverMicros
  return meterName === requestsMeterName ? rollOverLimitMicros(plan) : undefined
}
