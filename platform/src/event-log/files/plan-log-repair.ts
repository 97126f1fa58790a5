import type { SegmentReport } from './verify-segment.ts'

/** A range of records of one stream that are only in a damaged segment. */
export type LostRange = {
  readonly stream: number
  readonly fromOffset: number
  readonly toOffset: number
}

export type LogRepairPlan =
  | { readonly kind: 'nothing' }
  /** Everything up to this segment is stored elsewhere, so the log can begin after it. */
  | { readonly kind: 'drop'; readonly upTo: number; readonly damaged: readonly SegmentReport[] }
  | { readonly kind: 'refuse'; readonly reason: string; readonly lost: readonly LostRange[] }

/**
 * Decides what a repair may do. A log can only be cut at its start, so all segments up to the last damaged one are dropped. All
 * their records must be below `needed`: the first offset, by stream, that a consumer still has to read.
 */
export function planLogRepair(
  reports: readonly SegmentReport[],
  needed: readonly number[],
): LogRepairPlan {
  const damaged = reports.filter(({ state }) => state !== 'whole')
  const last = damaged.at(-1)
  if (last === undefined) return { kind: 'nothing' }
  if (last === reports.at(-1)) {
    return { kind: 'refuse', reason: 'the newest segment is damaged', lost: lostOf(last, needed) }
  }
  if (last.nextHeads === undefined) {
    const reason = `the header behind segment ${last.number} cannot be read`
    return { kind: 'refuse', reason, lost: [] }
  }
  const lost = lostOf(last, needed)
  if (lost.length === 0) return { kind: 'drop', upTo: last.number, damaged }
  return { kind: 'refuse', reason: 'records in it are not stored elsewhere', lost }
}

function lostOf({ heads, nextHeads }: SegmentReport, needed: readonly number[]): LostRange[] {
  return (nextHeads ?? []).flatMap((toOffset, stream) => {
    const fromOffset = Math.max(heads?.[stream] ?? 0, needed[stream] ?? 0)
    return fromOffset < toOffset ? [{ stream, fromOffset, toOffset }] : []
  })
}
