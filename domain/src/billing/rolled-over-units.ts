import type { Environment } from '@tollgate/schemas/environment'
import { listCurrentReferences } from '../customers/repository.ts'
import type { Period } from '../periods/periods.ts'
import { planOfPeriod } from '../plans/included-units.ts'
import { rolledOverMicros } from '../pricing/roll-over.ts'
import { periodCarriedFrom } from '../purchases/decide-carry-over.ts'
import type { Purchase } from '../purchases/repository.ts'
import { findEndOfPrevious } from '../purchases/purchase-fields-repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { measureUsage, type MeasuringParts, type UsageToMeasure } from './measure-usage.ts'

/**
 * Reads the input for summing up the units that the previous period leaves to `period`. Returns undefined if the
 * previous period leaves no units, whatever was used.
 */
export async function findRollOverUsage(
  { sql, providerId }: UnitOfWork,
  purchase: Purchase,
  period: Period,
): Promise<UsageToMeasure | undefined> {
  const before = periodCarriedFrom(purchase, period)
  if (before === undefined) return undefined
  const { customerRef } = purchase
  const [references, endOfPrevious] = await Promise.all([
    listCurrentReferences(sql, [{ providerId, customerRef }]),
    findEndOfPrevious(sql, providerId, purchase),
  ])
  return {
    purchase,
    period: { start: before.start, end: before.end },
    earlier: [],
    endOfPrevious,
    customerRefs: references.get(customerRef) ?? [customerRef],
  }
}

/**
 * Returns the units that the usage's period leaves to the next one, in 10^-6 units, from all acknowledged usage. The
 * next bill computes the same sum. Throws UsageBehindError while the usage store does not contain all of that usage.
 */
export async function measureRolledOverUnits(
  parts: MeasuringParts,
  environment: Environment,
  providerId: string,
  usage: UsageToMeasure,
): Promise<bigint> {
  const [measured] = await measureUsage(parts, environment, providerId, usage)
  const { planSnapshot, reference } = usage.purchase
  const current = measured?.current
  if (planSnapshot === null || current === undefined) {
    throw new Error(`purchase ${reference} carries no units over to its next period`)
  }
  const plan = planOfPeriod(planSnapshot, usage.purchase, current.period)
  return rolledOverMicros(plan, current.usedBeforeMicros + current.usedMicros)
}
