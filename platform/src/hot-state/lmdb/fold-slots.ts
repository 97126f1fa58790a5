import type { LmdbStore } from '../../lmdb/lmdb-store.ts'
import type { AddedTime } from './added-time.ts'
import { windowAmounts } from './counter-format.ts'
import { textPart } from './hot-keys.ts'
import type { SeriesCounters } from './series-counters.ts'
import { encodeSlots } from './slot-format.ts'
import { slotsWithin, type SlotPlace } from './slots-in-order.ts'
import { fittingWindow } from './subject-record.ts'

/**
 * Adds the slots in the added time to the windows. Call it inside a write transaction.
 *
 * Slots of the scope itself are removed when they are folded, so they never count twice. Slots without a scope stay; a window folds
 * them once, when their time is added to it.
 */
export function foldSlots(
  store: LmdbStore,
  counts: Buffer,
  subject: Buffer,
  scope: string,
  added: AddedTime,
  counters: SeriesCounters,
): void {
  if (scope !== '') foldOwnSlots(store, slotPlace(counts, subject, scope), added, counters)
  foldUnscopedSlots(store, slotPlace(counts, subject, ''), added, counters)
}

export function slotPlace(counts: Buffer, subject: Buffer, scope: string): SlotPlace {
  return { counts, subjectScope: Buffer.concat([subject, textPart(scope)]) }
}

function foldOwnSlots(
  store: LmdbStore,
  place: SlotPlace,
  { windows, fromSecond, toSecond }: AddedTime,
  counters: SeriesCounters,
): void {
  for (const { key, series, slots } of slotsWithin(store, place, fromSecond, toSecond)) {
    const waiting = slots.filter(({ second, amount }) => {
      const window = fittingWindow(windows, second)
      if (window === undefined || second < fromSecond || second >= toSecond) return true
      windowAmounts(counters.of(series), window.id).scoped += amount
      return false
    })
    if (waiting.length === 0) store.removeSync(key)
    else if (waiting.length < slots.length) store.putSync(key, encodeSlots(waiting))
  }
}

function foldUnscopedSlots(
  store: LmdbStore,
  place: SlotPlace,
  { windows, listedTo, fromSecond, toSecond }: AddedTime,
  counters: SeriesCounters,
): void {
  for (const { series, slots } of slotsWithin(store, place, fromSecond, toSecond)) {
    for (const { second, amount } of slots) {
      const window = fittingWindow(windows, second)
      if (window === undefined || second < fromSecond || second >= toSecond) continue
      if (second < (listedTo.get(window.id) ?? -Infinity)) continue
      windowAmounts(counters.of(series), window.id).unscoped += amount
    }
  }
}
