import type { LmdbStore } from '../../lmdb/lmdb-store.ts'
import { allSlots, type StoredForm } from './bucket-forms.ts'
import { bucketKey, BucketList } from './bucket-list.ts'
import { frontierOf, slotsWithin, type SlotPlace } from './slots-in-order.ts'

export type FilledEntry = {
  /** Key parts of the counts in use, and of the shadow if there is one. */
  readonly counts: readonly Buffer[]
  readonly subject: Buffer
  readonly scope: Buffer
  /** The places of the entry's slots in some counts. */
  readonly placesIn: (counts: Buffer) => readonly SlotPlace[]
}

/**
 * Adds waiting slots to the buckets of forms that are not filled yet, oldest first, up to a limited number of minutes. Returns the
 * forms as they are filled then. The slots stay, because windows count them too. Call it inside a write transaction.
 */
export function fillBuckets(
  store: LmdbStore,
  entry: FilledEntry,
  forms: readonly StoredForm[],
  minutesMax: number,
  nowSecond: number,
): StoredForm[] {
  const filling = forms.filter(({ filledTo, ids }) => filledTo !== Infinity && ids.length > 0)
  if (filling.length === 0) return [...forms]
  const fromSecond = Math.min(...filling.map(({ filledTo }) => filledTo))
  const places = entry.counts.flatMap(entry.placesIn)
  const frontier = frontierOf(store, places, fromSecond, allSlots.toSecond, minutesMax)
  for (const counts of entry.counts) {
    foldInto(store, entry, counts, filling, [fromSecond, frontier], nowSecond)
  }
  const filledTo = frontier === allSlots.toSecond ? Infinity : frontier
  return forms.map((form) => {
    return filling.includes(form) ? { ...form, filledTo: Math.max(form.filledTo, filledTo) } : form
  })
}

function foldInto(
  store: LmdbStore,
  { subject, scope, placesIn }: FilledEntry,
  counts: Buffer,
  forms: readonly StoredForm[],
  [fromSecond, toSecond]: readonly [number, number],
  nowSecond: number,
): void {
  const lists = new Map<string, BucketList>()
  const listOf = (series: Buffer, form: StoredForm): BucketList => {
    const key = bucketKey(counts, subject, scope, series, form.name)
    const name = key.toString('latin1')
    const list = lists.get(name) ?? new BucketList(key, form, nowSecond)
    lists.set(name, list)
    return list
  }
  for (const place of placesIn(counts)) {
    for (const { series, slots } of slotsWithin(store, place, fromSecond, toSecond)) {
      for (const form of forms) {
        for (const { second, amount } of slots) {
          if (second < form.filledTo || second >= toSecond) continue
          listOf(series, form).add(second, amount)
        }
      }
    }
  }
  for (const list of lists.values()) list.write(store)
}
