import { hourMs } from '@tollgate/domain/alerts/checks-repository'
import type { WatchedValue } from '@tollgate/domain/alerts/watched-value'
import type { CountingWindow } from '@tollgate/domain/entitlements/counting-windows'
import { isBucketed } from '@tollgate/domain/entitlements/entitled-limits'
import { bucketRangeAt } from '@tollgate/platform/hot-state/bucket-windows'
import {
  firstPeriodToleranceSeconds,
  type EntitledLimit,
} from '@tollgate/schemas/hot-state/documents'
import { ofPeriod, type LimitValueParts, type WatchContext } from './read-limit-values.ts'
import type { WatchedPurchasePeriod } from './watched-periods.ts'

/**
 * Returns the calendar windows (hours, days, weeks, months) that have ended since they were used, with their usage from the usage
 * store. A rolling window has no end: it is compared while it runs.
 */
export async function readEndedWindows(
  { usage }: Pick<LimitValueParts, 'usage'>,
  { environment, providerId, now }: WatchContext,
  watched: WatchedPurchasePeriod,
  usedHours: readonly number[],
): Promise<WatchedValue[]> {
  const { purchase, entitlement } = watched
  const values: WatchedValue[] = []
  for (const limit of entitlement.limits ?? []) {
    const windows = endedWindows(limit, watched, usedHours, now)
    if (windows.length === 0) continue
    const { customerRefs } = entitlement
    const { productRef } = purchase
    const { meterName } = limit
    const query = { environment, providerId, productRef, customerRefs, meterName, windows }
    const sums = await usage.readWindows(query)
    for (const { id, startSecond, toSecond } of windows) {
      const period = { id, start: new Date(startSecond * 1_000), end: new Date(toSecond * 1_000) }
      const [whole, value] = [BigInt(limit.cap), sums.get(id) ?? 0n]
      const named = { limitKey: limit.key, meterName, subject: `window ${limit.key}` }
      values.push({ ...ofPeriod(watched), ...named, value, whole, size: limit.cap, period })
    }
  }
  return values
}

/** `startSecond` is the start of the window, and `fromSecond` that of the usage that counts. */
type EndedWindow = CountingWindow & { readonly startSecond: number }

function endedWindows(
  { window }: EntitledLimit,
  { purchase, entitlement }: WatchedPurchasePeriod,
  usedHours: readonly number[],
  now: Date,
): EndedWindow[] {
  if (!isBucketed(window) || window.kind === 'rolling') return []
  const firstSecond = Math.floor(purchase.startDate.getTime() / 1_000) - firstPeriodToleranceSeconds
  const lastSecond = entitlement.endsAtMs === null ? Infinity : entitlement.endsAtMs / 1_000
  const found = new Map<string, EndedWindow>()
  for (const hour of usedHours) {
    const { startSecond, endSecond } = bucketRangeAt(window, (hour * hourMs) / 1_000)
    if (endSecond * 1_000 > now.getTime()) continue
    if (endSecond <= firstSecond || startSecond >= lastSecond) continue
    const id = `${window.kind}@${startSecond}`
    // Usage before the purchase does not count against its limits.
    const fromSecond = Math.max(startSecond, firstSecond)
    found.set(id, { id, startSecond, fromSecond, toSecond: endSecond })
  }
  return [...found.values()]
}
