import { DigestTable } from './digest-table.ts'
import type { IdDigest } from './tail-chunk.ts'

/** Records per span. Few spans make lookups fast. Small spans can be dropped early and grow without a long pause. */
const spanRecordsMax = 32_768

type Span = { readonly fromOffset: number; toOffset: number; readonly places: DigestTable }

/** Remembers which record of a log's tail used which idempotency key first. */
export class FirstUses {
  #spans: Span[] = []

  get bytes(): number {
    return this.#spans.reduce((sum, { places }) => sum + places.bytes, 0)
  }

  /** Returns the offset that used the id first, or undefined if no record of the tail did. */
  find(id: IdDigest): number | undefined {
    for (const { fromOffset, places } of this.#spans) {
      const place = places.find(id)
      if (place >= 0) return fromOffset + place
    }
    return undefined
  }

  /** Records the first use of an id. Offsets must never decrease. */
  record(id: IdDigest, offset: number): void {
    let span = this.#spans.at(-1)
    if (span === undefined || offset - span.fromOffset >= spanRecordsMax) {
      span = { fromOffset: offset, toOffset: offset, places: new DigestTable() }
      this.#spans.push(span)
    }
    span.places.set(id, offset - span.fromOffset)
    span.toOffset = offset + 1
  }

  /** Drops the spans that lie before the offset. Later spans may still contain keys from before it. */
  dropBefore(offset: number): void {
    while (this.#spans[0] !== undefined && this.#spans[0].toOffset <= offset) this.#spans.shift()
  }

  clear(): void {
    this.#spans = []
  }
}
