import type { OffsetRange } from '@tollgate/domain/stored-usage/totalled-ranges'

/**
 * Returns the ranges below the position that have no totals yet, newest first. They begin and end at multiples of `rangeRecords`,
 * except beside totals that were made with another size. `totalled` does not overlap and is sorted, newest first. Records before
 * `startOffset` are not stored.
 */
export function* rangesToTotal(
  position: number,
  startOffset: number,
  rangeRecords: number,
  totalled: readonly OffsetRange[],
): Generator<OffsetRange> {
  let end = Math.floor(position / rangeRecords) * rangeRecords
  for (const { fromOffset, toOffset } of [...totalled, { fromOffset: 0, toOffset: 0 }]) {
    while (end > Math.max(toOffset, startOffset)) {
      const lastStart = Math.floor((end - 1) / rangeRecords) * rangeRecords
      yield { fromOffset: Math.max(toOffset, lastStart), toOffset: end }
      end = Math.max(toOffset, lastStart)
    }
    end = Math.min(end, fromOffset)
  }
}
