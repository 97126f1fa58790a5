import type { LmdbStore } from '../../lmdb/lmdb-store.ts'
import { hotKey, keyAfter, keySpaces, readTimePart, textPartBytes, timePart } from './hot-keys.ts'
import {
  dayOfMinute,
  decodeSlots,
  minuteOf,
  minutesPerDay,
  secondsPerSlotKey,
  type Slot,
} from './slot-format.ts'

/** The slots of one subject and scope in some counts. */
export type SlotPlace = {
  /** Key part of the counts. */
  readonly counts: Buffer
  /** Subject and scope as they follow the day in the keys. */
  readonly subjectScope: Buffer
}

export type SlotsOfMinute = {
  readonly key: Buffer
  readonly series: Buffer
  readonly slots: readonly Slot[]
}

const minutesPerHour = 60

/**
 * Returns the second, at most `toSecond`, before which there are at most `minutesMax` minutes of slots. Days are taken whole; if a
 * single day has more, the rest of the current hour is used. Always later than `fromSecond`.
 */
export function frontierOf(
  store: LmdbStore,
  places: readonly SlotPlace[],
  fromSecond: number,
  toSecond: number,
  minutesMax: number,
): number {
  const from = minuteOf(fromSecond)
  let minutesTotal = 0
  for (const day of daysWithSlots(store, places, from, minuteOf(toSecond - 1))) {
    let minutesOfDay = 0
    for (const place of places) {
      const prefix = dayPrefix(place, day)
      const limit = minutesMax + 1 - minutesOfDay
      for (const _ of store.getKeys({ start: prefix, end: keyAfter(prefix), limit })) minutesOfDay++
    }
    if (minutesTotal + minutesOfDay > minutesMax) {
      const start = Math.max(from, day * minutesPerDay)
      const hoursBegun = Math.floor(start / minutesPerHour) + 1
      const end = minutesTotal > 0 ? start : hoursBegun * minutesPerHour
      return Math.min(end * secondsPerSlotKey, toSecond)
    }
    minutesTotal += minutesOfDay
  }
  return toSecond
}

/** Returns the minutes of slots that overlap [fromSecond, toSecond). They are collected first, because the caller changes them. */
export function slotsWithin(
  store: LmdbStore,
  place: SlotPlace,
  fromSecond: number,
  toSecond: number,
): SlotsOfMinute[] {
  const [from, last] = [minuteOf(fromSecond), minuteOf(toSecond - 1)]
  const found: SlotsOfMinute[] = []
  for (const day of daysWithSlots(store, [place], from, last)) {
    const prefix = dayPrefix(place, day)
    for (const series of seriesWithin(store, prefix)) {
      const start = Buffer.concat([prefix, series, timePart(from)])
      const end = Buffer.concat([prefix, series, timePart(last + 1)])
      for (const { key, value } of store.getRange({ start, end })) {
        const minute = readTimePart(Buffer.from(key), prefix.length + series.length)
        found.push({
          key: Buffer.from(key),
          series,
          slots: decodeSlots(Buffer.from(value), minute),
        })
      }
    }
  }
  return found
}

/** Yields the days between two minutes that may have slots. A window may span years, but slots span only a few weeks. */
function* daysWithSlots(
  store: LmdbStore,
  places: readonly SlotPlace[],
  fromMinute: number,
  lastMinute: number,
): Generator<number> {
  for (let day = dayOfMinute(fromMinute); ; day += 1) {
    day = Math.min(...places.map((place) => nextDayWithSlots(store, place, day)))
    if (day > dayOfMinute(lastMinute)) return
    yield day
  }
}

function nextDayWithSlots(store: LmdbStore, place: SlotPlace, day: number): number {
  const allDays = hotKey(keySpaces.slot, place.counts)
  const key = firstKey(store, dayPrefix(place, day), keyAfter(allDays))
  return key === undefined ? Infinity : readTimePart(key, allDays.length)
}

/** Yields the series parts of the keys with this prefix. */
function* seriesWithin(store: LmdbStore, prefix: Buffer): Generator<Buffer> {
  let start = prefix
  for (;;) {
    const key = firstKey(store, start, keyAfter(prefix))
    if (key === undefined) return
    const seriesEnd = prefix.length + textPartBytes(key, prefix.length)
    yield key.subarray(prefix.length, seriesEnd)
    start = keyAfter(key.subarray(0, seriesEnd))
  }
}

function dayPrefix({ counts, subjectScope }: SlotPlace, day: number): Buffer {
  return hotKey(keySpaces.slot, counts, timePart(day), subjectScope)
}

function firstKey(store: LmdbStore, start: Buffer, end: Buffer): Buffer | undefined {
  for (const key of store.getKeys({ start, end, limit: 1 })) return Buffer.from(key)
  return undefined
}
