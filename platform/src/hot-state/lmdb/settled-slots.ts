import type { SlotLimits } from '../hot-state.ts'
import { textPart } from './hot-keys.ts'
import { noVersion, type SubjectRecord } from './subject-record.ts'

const noScope = textPart('')

/**
 * Returns the second before which no window needs the slots of a scope any more. Slots after the last window of their scope may
 * still get a window: windows are published only for some time ahead, and the next publication may be late or in progress.
 */
export function settledBefore(
  record: SubjectRecord,
  scopePart: Buffer,
  { slotsBeforeSecond, knownSubjectSlotsBeforeSecond }: SlotLimits,
): number {
  const customer = record.get('')
  if (customer === undefined || customer.version === noVersion) return slotsBeforeSecond
  let settled = knownSubjectSlotsBeforeSecond
  for (const [scope, { windows, isUnfinished }] of record) {
    if (!scopePart.equals(noScope) && !scopePart.equals(textPart(scope))) continue
    if (isUnfinished) return slotsBeforeSecond
    const ends = windows.map(({ toSecond }) => toSecond)
    if (ends.length > 0) settled = Math.min(settled, Math.max(...ends))
  }
  return Math.max(slotsBeforeSecond, settled)
}
