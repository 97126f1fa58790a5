import { isBefore, type JournalPlace } from './journal-place.ts'

/** Bytes that are kept; of more, the oldest records are given up. */
const bytesMax = 16 * 1024 * 1024

/** Given-up entries at the front of the array before it is made shorter. */
const deadMax = 1_024

/** Records that were written and that no sync has covered, in the order of the journal. */
export class Unsynced {
  #entries: { readonly frame: Buffer; readonly end: JournalPlace }[] = []
  #first = 0
  #bytes = 0

  get frames(): Buffer[] {
    return this.#entries.slice(this.#first).map(({ frame }) => frame)
  }

  add(frame: Buffer, end: JournalPlace): void {
    this.#entries.push({ frame, end })
    this.#bytes += frame.byteLength
    while (this.#bytes > bytesMax) this.#forgetFirst()
  }

  /** The records that end at `place` or before are safe. */
  forgetUpTo(place: JournalPlace): void {
    for (;;) {
      const next = this.#entries[this.#first]
      if (next === undefined || isBefore(place, next.end)) return
      this.#forgetFirst()
    }
  }

  #forgetFirst(): void {
    this.#bytes -= this.#entries[this.#first]!.frame.byteLength
    this.#first += 1
    const isLongDead = this.#first > deadMax && this.#first * 2 > this.#entries.length
    if (!isLongDead && this.#first < this.#entries.length) return
    this.#entries = this.#entries.slice(this.#first)
    this.#first = 0
  }
}
