import type { CountingWindow } from './counting-windows.ts'
import { digestOfSeries, type Series, type TailChunk } from './tail-chunk.ts'

/** Some 2 KiB each. */
const knownMax = 512

export type TailSum = {
  /** By window id. */
  readonly amounts: ReadonlyMap<string, bigint>
  /** How much work it took. */
  readonly chunksRead: number
}

type Known = { closedChunks: number; readonly amounts: Map<string, bigint> }

/**
 * Sums up the chunks of a tail. Closed chunks never change, so for series and windows that were asked for before, only
 * chunks that were closed since are read, and the open one.
 */
export class TailSums {
  #first: TailChunk | undefined
  readonly #known = new Map<string, Known>()

  /** All chunks but the last one are closed. The windows must not overlap. */
  sum(
    chunks: readonly TailChunk[],
    series: readonly Series[],
    windows: readonly CountingWindow[],
  ): TailSum {
    // A tail that begins elsewhere, or was cut, has another first chunk.
    if (chunks[0] !== this.#first) this.#known.clear()
    this.#first = chunks[0]
    const known = this.#knownOf(series, windows)
    const open = chunks.length - 1
    const closed = chunks.slice(known.closedChunks, open)
    known.closedChunks = open
    const digests = series.map(digestOfSeries)
    for (const digest of digests) {
      for (const chunk of closed) chunk.addTo(known.amounts, digest, windows)
    }
    const amounts = new Map(known.amounts)
    for (const digest of digests) chunks[open]?.addTo(amounts, digest, windows)
    return { amounts, chunksRead: closed.length + 1 }
  }

  #knownOf(series: readonly Series[], windows: readonly CountingWindow[]): Known {
    const key = JSON.stringify([series, windows])
    const found = this.#known.get(key)
    if (found !== undefined) return found
    // Cheaper than keeping an order, and right again within one answer of each caller.
    if (this.#known.size >= knownMax) this.#known.clear()
    const known = { closedChunks: 0, amounts: new Map<string, bigint>() }
    this.#known.set(key, known)
    return known
  }
}
