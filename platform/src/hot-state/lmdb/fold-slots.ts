import type { LmdbStore } from '../../lmdb/environment.ts'
import type { Window } from '../hot-state.ts'
import { decodeCounter, encodeCounter, windowAmounts, type Counter } from './counter-format.ts'
import {
  hotKey,
  keyAfter,
  keySpaces,
  readTimePart,
  textPart,
  textPartBytes,
  timePart,
} from './hot-keys.ts'
import { dayOfMinute, decodeSlots, encodeSlots, minuteOf, type Slot } from './slot-format.ts'
import { fittingWindow } from './subject-record.ts'

export type Published = {
  /** The counts to fold in, as a part of their keys. */
  readonly counts: Buffer
  readonly subject: Buffer
  readonly scope: string
  readonly windowsBefore: readonly Window[]
  readonly windows: readonly Window[]
}

/**
 * Adds the waiting slots to the windows that are published now. Call inside a write transaction.
 *
 * Slots of the scope itself are removed as they are folded, so they can never count twice. Slots without a scope
 * stay; a window takes them once: all of them when it is new, those of the added time when its bounds have grown,
 * and, when it was withdrawn and comes back, the larger of what it had counted and what waits now.
 */
export function foldSlots(store: LmdbStore, published: Published): void {
  const { windows, scope } = published
  if (windows.length === 0) return
  const counters = new SeriesCounters(store, published)
  if (scope !== '') foldOwnSlots(store, published, counters)
  foldUnscopedSlots(store, published, counters)
  counters.write()
}

function foldOwnSlots(store: LmdbStore, published: Published, counters: SeriesCounters): void {
  for (const { key, series, slots } of slotsWithin(store, published, published.scope)) {
    const waiting = slots.filter(({ second, amount }) => {
      const window = fittingWindow(published.windows, second)
      if (window === undefined) return true
      windowAmounts(counters.of(series), window.id).scoped += amount
      return false
    })
    if (waiting.length === 0) store.removeSync(key)
    else if (waiting.length < slots.length) store.putSync(key, encodeSlots(waiting))
  }
}

function foldUnscopedSlots(store: LmdbStore, published: Published, counters: SeriesCounters): void {
  const before = new Map(published.windowsBefore.map((window) => [window.id, window]))
  const comeBack = new Map<string, { counter: Counter; id: string; sum: bigint }>()
  for (const { series, slots } of slotsWithin(store, published, '')) {
    for (const { second, amount } of slots) {
      const window = fittingWindow(published.windows, second)
      if (window === undefined) continue
      const old = before.get(window.id)
      if (old !== undefined) {
        if (fittingWindow([old], second) === undefined) {
          windowAmounts(counters.of(series), window.id).unscoped += amount
        }
        continue
      }
      const name = JSON.stringify([series.toString('latin1'), window.id])
      const sum = comeBack.get(name)
      if (sum !== undefined) sum.sum += amount
      else comeBack.set(name, { counter: counters.of(series), id: window.id, sum: amount })
    }
  }
  for (const { counter, id, sum } of comeBack.values()) {
    const amounts = windowAmounts(counter, id)
    // One that has counted nothing is new here, and what waits may well be a correction below zero.
    if (amounts.unscoped === 0n || sum > amounts.unscoped) amounts.unscoped = sum
  }
}

class SeriesCounters {
  readonly #store: LmdbStore
  readonly #prefix: Buffer
  readonly #counters = new Map<string, { readonly key: Buffer; readonly counter: Counter }>()

  constructor(store: LmdbStore, { counts, subject, scope }: Published) {
    this.#store = store
    this.#prefix = hotKey(keySpaces.counter, counts, subject, textPart(scope))
  }

  of(series: Buffer): Counter {
    const name = series.toString('latin1')
    let found = this.#counters.get(name)
    if (found === undefined) {
      const key = Buffer.concat([this.#prefix, series])
      found = { key, counter: decodeCounter(this.#store.getBinary(key)) }
      this.#counters.set(name, found)
    }
    return found.counter
  }

  write(): void {
    for (const { key, counter } of this.#counters.values()) {
      this.#store.putSync(key, encodeCounter(counter))
    }
  }
}

type SlotsOfMinute = {
  readonly key: Buffer
  readonly series: Buffer
  readonly slots: readonly Slot[]
}

/** All slot minutes of a scope that may hold seconds of the windows. Collected first, since the caller changes them. */
function slotsWithin(store: LmdbStore, published: Published, scope: string): SlotsOfMinute[] {
  const { counts, subject, windows } = published
  const from = minuteOf(Math.min(...windows.map((window) => window.fromSecond)))
  const to = minuteOf(Math.max(...windows.map((window) => window.toSecond)) - 1)
  const daysPrefix = hotKey(keySpaces.slot, counts)
  const subjectScope = Buffer.concat([subject, textPart(scope)])
  const found: SlotsOfMinute[] = []
  let day = dayOfMinute(from)
  for (;;) {
    // Jump to the next day that has slots at all: a window may span years, the slots a few weeks.
    const next = firstKey(
      store,
      Buffer.concat([daysPrefix, timePart(day), subjectScope]),
      keyAfter(daysPrefix),
    )
    if (next === undefined) return found
    const nextDay = readTimePart(next, daysPrefix.length)
    if (nextDay > dayOfMinute(to)) return found
    if (nextDay === day) {
      collectDay(store, Buffer.concat([daysPrefix, timePart(day), subjectScope]), from, to, found)
      day += 1
    } else day = nextDay
  }
}

function collectDay(
  store: LmdbStore,
  prefix: Buffer,
  from: number,
  to: number,
  found: SlotsOfMinute[],
): void {
  for (const { key: keyBytes, value } of store.getRange({ start: prefix, end: keyAfter(prefix) })) {
    const key = Buffer.from(keyBytes)
    const minuteAt = prefix.length + textPartBytes(key, prefix.length)
    const minute = readTimePart(key, minuteAt)
    if (minute < from || minute > to) continue
    const series = key.subarray(prefix.length, minuteAt)
    found.push({ key, series, slots: decodeSlots(Buffer.from(value), minute) })
  }
}

function firstKey(store: LmdbStore, start: Buffer, end: Buffer): Buffer | undefined {
  for (const key of store.getKeys({ start, end, limit: 1 })) return Buffer.from(key)
  return undefined
}
