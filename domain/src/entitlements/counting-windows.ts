import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import { firstPeriodToleranceSeconds, windowId } from '@tollgate/schemas/hot-state/documents'

/** What the counters are kept for: a period, the first one widened to the left. Half-open, Unix seconds. */
export type CountingWindow = {
  readonly id: string
  readonly fromSecond: number
  readonly toSecond: number
}

export type EntitledPeriod = Entitlement['periods'][number]

export function countingWindows(entitlement: Entitlement): CountingWindow[] {
  return entitlement.periods.map((period) => {
    const isFirst = period.startSecond === entitlement.firstPeriodStartSecond
    return {
      id: windowId(entitlement.purchaseRef, period.startSecond),
      fromSecond: period.startSecond - (isFirst ? firstPeriodToleranceSeconds : 0),
      toSecond: period.endSecond,
    }
  })
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
