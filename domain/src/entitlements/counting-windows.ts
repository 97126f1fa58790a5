import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import { firstPeriodToleranceSeconds, windowId } from '@tollgate/schemas/hot-state/documents'

/**
 * The time range of a counter: one period. The first period is extended to the left, either by the tolerance or back to
 * the start of a shared allowance. Half-open, Unix seconds.
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

/** Returns the id of the counter window in which the period's usage is counted. */
export function windowOfPeriod(entitlement: Entitlement, startSecond: number): string {
  const { purchaseRef, firstPeriodStartSecond, sharedWindow } = entitlement
  if (sharedWindow !== undefined && startSecond === firstPeriodStartSecond) return sharedWindow.id
  return windowId(purchaseRef, startSecond)
}

/**
 * Returns the period that contains the instant, while the purchase gives access. Returns undefined if the document
 * cannot answer for this instant, because the purchase has ended or no document was published for a long time. The
 * control plane must then answer.
 */
export function currentPeriod(entitlement: Entitlement, nowMs: number): EntitledPeriod | undefined {
  if (entitlement.endsAtMs !== null && nowMs >= entitlement.endsAtMs) return undefined
  return entitlement.periods.find(
    ({ startSecond, endSecond }) => startSecond * 1000 <= nowMs && nowMs < endSecond * 1000,
  )
}

/** Returns the period that starts at that second. Throws if the document does not list it. */
export function periodAt(entitlement: Entitlement, startSecond: number): EntitledPeriod {
  const period = entitlement.periods.find((each) => each.startSecond === startSecond)
  if (period === undefined) throw new Error(`${entitlement.purchaseRef} has no such period`)
  return period
}
