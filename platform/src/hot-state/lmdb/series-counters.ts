import type { LmdbStore } from '../../lmdb/environment.ts'
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

/** The counters of all series of one entry, in some counts. Inside a write transaction. */
export class SeriesCounters {
  readonly #store: LmdbStore
  readonly #prefix: Buffer
  readonly #known = new Map<string, Kept>()

  constructor(store: LmdbStore, counts: Buffer, subject: Buffer, scope: Buffer) {
    this.#store = store
    this.#prefix = hotKey(keySpaces.counter, counts, subject, scope)
  }

  /** To be changed. */
  of(series: Buffer): Counter {
    const kept = this.#at(Buffer.concat([this.#prefix, series]))
    kept.isChanged = true
    return kept.counter
  }

  /** Takes away what these windows have counted without a scope: they are counted anew. Whether there was any. */
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

  /** Gives each of these windows what was put aside where it is more than what it has counted since. */
  compareWithAside(ids: readonly string[]): void {
    for (const kept of this.#all()) {
      for (const id of ids) {
        moveLarger(kept.counter, asideId(id), id)
        if (kept.counter.delete(asideId(id))) kept.isChanged = true
      }
    }
  }

  /**
   * Moves what the windows counted. Slots without a scope are counted anew by the window that takes them in, as far as they
   * are still there, so what was counted of them is put aside with what that had counted itself. Whether there was any.
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
 * Whether there was anything to move. One that has counted nothing has no amount to compare with: the other may well be
 * a correction below zero.
 */
function moveLarger(counter: Counter, fromId: string, toId: string): boolean {
  const from = counter.get(fromId)
  if (from === undefined || from.unscoped === 0n) return false
  const to = windowAmounts(counter, toId)
  if (to.unscoped === 0n || from.unscoped > to.unscoped) to.unscoped = from.unscoped
  from.unscoped = 0n
  return true
}
