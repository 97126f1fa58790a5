import type { LmdbStore } from '../../lmdb/lmdb-store.ts'
import {
  asideId,
  decodeCounter,
  encodeCounter,
  windowAmounts,
  type Counter,
} from './counter-format.ts'
import type { WindowMove } from '../taken-in.ts'
import { hotKey, keyAfter, keySpaces } from './hot-keys.ts'

type Kept = { readonly key: Buffer; readonly counter: Counter; isChanged: boolean }

/** The counters of all series of one entry. Use it inside a write transaction. */
export class SeriesCounters {
  readonly #store: LmdbStore
  readonly #prefix: Buffer
  readonly #known = new Map<string, Kept>()

  constructor(store: LmdbStore, counts: Buffer, subject: Buffer, scope: Buffer) {
    this.#store = store
    this.#prefix = hotKey(keySpaces.counter, counts, subject, scope)
  }

  /** Returns a counter for changing it. */
  of(series: Buffer): Counter {
    const kept = this.#at(Buffer.concat([this.#prefix, series]))
    kept.isChanged = true
    return kept.counter
  }

  /**
   * Puts aside the amounts that these windows counted without a scope, because they are counted again. Returns whether there were
   * any.
   */
  putAside(ids: readonly string[]): boolean {
    let isAnyAside = false
    for (const kept of this.#all()) {
      for (const id of ids) {
        if (!moveLarger(kept.counter, id, asideId(id))) continue
        kept.isChanged = true
        isAnyAside = true
      }
    }
    return isAnyAside
  }

  /** Restores the amount that was put aside for each of these windows, if it is larger than the amount counted since. */
  compareWithAside(ids: readonly string[]): void {
    for (const kept of this.#all()) {
      for (const id of ids) {
        moveLarger(kept.counter, asideId(id), id)
        if (kept.counter.delete(asideId(id))) kept.isChanged = true
      }
    }
  }

  /**
   * Moves the amounts of windows into others. The target window counts the remaining slots without a scope again, so amounts
   * without a scope are put aside together with the target's own. Returns whether anything was moved.
   */
  takeIn(moves: readonly WindowMove[]): boolean {
    if (moves.length === 0) return false
    let isAnyMoved = false
    for (const kept of this.#all()) {
      for (const { window, into } of moves) {
        const from = kept.counter.get(window)
        if (from === undefined) continue
        windowAmounts(kept.counter, into).scoped += from.scoped
        windowAmounts(kept.counter, asideId(into)).unscoped += from.unscoped
        kept.counter.delete(window)
        kept.isChanged = true
        isAnyMoved = true
      }
    }
    return isAnyMoved
  }

  write(): void {
    for (const { key, counter, isChanged } of this.#known.values()) {
      if (isChanged) this.#store.putSync(key, encodeCounter(counter))
    }
  }

  #all(): Kept[] {
    const range = { start: this.#prefix, end: keyAfter(this.#prefix) }
    const keys = [...this.#store.getKeys(range)].map((key) => Buffer.from(key))
    return keys.map((key) => this.#at(key))
  }

  #at(key: Buffer): Kept {
    const name = key.toString('latin1')
    let kept = this.#known.get(name)
    if (kept === undefined) {
      const counter = decodeCounter(this.#store.getBinary(key))
      kept = { key, counter, isChanged: false }
      this.#known.set(name, kept)
    }
    return kept
  }
}

/**
 * Moves the larger amount to `toId`. Returns whether there was an amount to move. An amount of 0 is not compared, because the other
 * may be a negative correction.
 */
function moveLarger(counter: Counter, fromId: string, toId: string): boolean {
  const from = counter.get(fromId)
  if (from === undefined || from.unscoped === 0n) return false
  const to = windowAmounts(counter, toId)
  if (to.unscoped === 0n || from.unscoped > to.unscoped) to.unscoped = from.unscoped
  from.unscoped = 0n
  return true
}
