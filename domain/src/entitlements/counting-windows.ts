import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import { firstPeriodToleranceSeconds, windowId } from '@tollgate/schemas/hot-state/documents'

/**
 * What the counters are kept for: a period, the first one widened to the left: by the tolerance, or back to the start of
 * an allowance that it shares. Half-open, Unix seconds.
 */
export type CountingWindow = {
  readonly id: string
  readonly fromSecond: number
  readonly toSecond: number
}

export type EntitledPeriod = Entitlement['periods'][number]

export function countingWindows(entitlement: Entitlement): CountingWindow[] {
  const { firstPeriodStartSecond, sharedWindow } = entitlement
  return entitlement.periods.map(({ startSecond, endSecond }) => {
    const id = windowOfPeriod(entitlement, startSecond)
    if (startSecond !== firstPeriodStartSecond) {
      return { id, fromSecond: startSecond, toSecond: endSecond }
    }
    const fromSecond = sharedWindow?.fromSecond ?? startSecond - firstPeriodToleranceSeconds
    return { id, fromSecond, toSecond: endSecond }
  })
}

/** Returns the id of the window that the period counts in. */
export function windowOfPeriod(entitlement: Entitlement, startSecond: number): string {
  const { purchaseRef, firstPeriodStartSecond, sharedWindow } = entitlement
  if (sharedWindow !== undefined && startSecond === firstPeriodStartSecond) return sharedWindow.id
  return windowId(purchaseRef, startSecond)
}

/**
 * The period that holds the instant while the purchase gives access. Undefined: the document does not answer for that
 * instant (the purchase ended, or nobody published for a long time), so the control plane must.
 */
export function currentPeriod(entitlement: Entitlement, nowMs: number): EntitledPeriod | undefined {
  if (entitlement.endsAtMs !== null && nowMs >= entitlement.endsAtMs) return undefined
  return entitlement.periods.find(
    ({ startSecond, endSecond }) => startSecond * 1000 <= nowMs && nowMs < endSecond * 1000,
  )
}
