import type { CountingWindow } from './counting-windows.ts'
import { digestOfSeries, type Series, type TailChunk } from './tail-chunk.ts'

/** Number of cached sums. Each takes about 2 KiB. */
const knownMax = 512

export type TailSum = {
  /** Usage in 10^-6 units, keyed by window id. */
  readonly amounts: ReadonlyMap<string, bigint>
  /** Number of chunks that were read: the work that the sum took. */
  readonly chunksRead: number
}

type Known = { closedChunks: number; readonly amounts: Map<string, bigint> }

/**
 * Sums up the chunks of a tail. Closed chunks never change. For series and windows that were summed up before, only the
 * open chunk and the chunks that were closed since are read.
 */
export class TailSums {
  #first: TailChunk | undefined
  readonly #known = new Map<string, Known>()

  /**
   * Returns the sums of the series in the windows. All chunks except the last one are closed. The windows must not
   * overlap.
   */
  sum(
    chunks: readonly TailChunk[],
    series: readonly Series[],
    windows: readonly CountingWindow[],
  ): TailSum {
    // The first chunk is another one if the tail begins elsewhere or was cut.
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
    // Clearing everything is cheaper than tracking the order of use. The cache is full again after one answer to each
    // caller.
    if (this.#known.size >= knownMax) this.#known.clear()
    const known = { closedChunks: 0, amounts: new Map<string, bigint>() }
    this.#known.set(key, known)
    return known
  }
}
