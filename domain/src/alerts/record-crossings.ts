import type { EventObject } from '@tollgate/schemas/event-types'
import { timestampPastMsMax } from '@tollgate/schemas/limits'
import { numberFromMicros } from '@tollgate/schemas/quantity'
import { unixSeconds } from '../periods/periods.ts'
import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { Crossing } from './decide-crossings.ts'
import { insertFiring } from './firings-repository.ts'
import type { WatchedValue } from './watched-value.ts'

/**
 * Emits an event for each crossing that was not emitted before, in the order given. The row and the event commit together, and the key
 * of the row is the crossing itself. So it is emitted once, whatever process crashes, and however often it is decided.
 *
 * The caller holds the lock of the customer's check, because rows with other keys decide too: those within the length of a window that
 * moves, and those of a limit that packs had raised as high before.
 */
export async function recordCrossings(
  work: UnitOfWork,
  customerRef: string,
  crossings: readonly Crossing[],
): Promise<void> {
  const { sql, providerId, now } = work
  for (const crossing of crossings) {
    const { value, threshold, raised } = crossing
    const { period, rollingSeconds } = value
    const object = eventObject(work, customerRef, crossing)
    const isMoving = rollingSeconds !== undefined
    const end = isMoving ? new Date(now.getTime() + rollingSeconds * 1_000) : period.end
    const isNew = await insertFiring(sql, providerId, {
      customerRef,
      subject: `${value.productRef} ${value.watches} ${value.subject}`,
      period: period.id,
      threshold,
      raised,
      firedAt: now,
      object,
      periodEnd: end,
      keptUntil: end && new Date(end.getTime() + lateUsageMs),
      rollingSeconds,
    })
    if (!isNew) continue
    const type = crossing.isWhole ? 'usage.limit_reached' : 'usage.threshold_reached'
    await recordEvent(work, type, object)
  }
}

/** Records of a period are accepted for a shorter time after its end. */
const lateUsageMs = timestampPastMsMax + 7 * 86_400_000

type ReachedObject = EventObject<'usage.threshold_reached'>

function eventObject(
  { now }: UnitOfWork,
  customerRef: string,
  { value, alertRef, percent, amount }: Crossing,
): ReachedObject {
  const { period, whole } = value
  const numberOf = (each: bigint): number => shownNumber(value, each)
  return {
    alert: alertRef,
    watches: value.watches,
    customer: customerRef,
    product: value.productRef,
    purchase: value.purchaseRef,
    limit: value.limitKey,
    meterName: value.meterName,
    percent,
    threshold: numberOf(amount),
    value: numberOf(value.value),
    whole: whole === null ? null : numberOf(whole),
    unit: value.unit,
    currency: value.currency?.toLowerCase() ?? null,
    periodStart: unixSeconds(period.start),
    periodEnd: period.end && unixSeconds(period.end),
    created: unixSeconds(now),
  }
}

function shownNumber({ unit }: WatchedValue, amount: bigint): number {
  return unit === 'units' ? numberFromMicros(amount) : Number(amount)
}
