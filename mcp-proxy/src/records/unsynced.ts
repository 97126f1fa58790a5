import { isBefore, type JournalPlace } from './journal-place.ts'

/** Maximum bytes that are kept. If there are more, the oldest records are dropped. */
const bytesMax = 16 * 1024 * 1024

/** Number of dropped entries at the front of the array after which the array is shortened. */
const deadMax = 1_024

/** Written records that no sync has covered yet, in the order of the journal. */
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

  /** Removes the records that end at or before `place`, because they are safe on disk. */
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
