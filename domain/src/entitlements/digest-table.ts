/** Bytes of a digest. 128 bits are enough that two different texts never share a digest in practice. */
export const digestBytes = 16

const wordsPerDigest = digestBytes / 4

/**
 * Finds small integers by 128-bit digests. Uses open addressing in typed arrays, so the memory per entry is known and
 * lies outside the garbage-collected heap.
 */
export class DigestTable {
  #slots: number
  #digests: Uint32Array
  /** The value plus 1; 0 marks a free slot. */
  #values: Uint32Array
  #size = 0

  constructor(slots = 64) {
    this.#slots = slots
    this.#digests = new Uint32Array(slots * wordsPerDigest)
    this.#values = new Uint32Array(slots)
  }

  get bytes(): number {
    return this.#digests.byteLength + this.#values.byteLength
  }

  /** Returns the value of the digest, or -1 if the table does not have it. */
  find(digest: Uint32Array): number {
    return this.#values[this.#slotOf(digest)]! - 1
  }

  /** Sets the value of a digest, whether or not the table has the digest. */
  set(digest: Uint32Array, value: number): void {
    const slot = this.#slotOf(digest)
    if (this.#values[slot] === 0) {
      this.#digests.set(digest, slot * wordsPerDigest)
      this.#size += 1
    }
    this.#values[slot] = value + 1
    if (this.#size * 2 > this.#slots) this.#grow()
  }

  /** Replaces each value by the result of `of`. */
  replaceValues(of: (value: number) => number): void {
    for (let slot = 0; slot < this.#slots; slot += 1) {
      const value = this.#values[slot]!
      if (value !== 0) this.#values[slot] = of(value - 1) + 1
    }
  }

  /** Returns the slot that has the digest, or the free slot for it. */
  #slotOf(digest: Uint32Array): number {
    const mask = this.#slots - 1
    let slot = digest[0]! & mask
    while (this.#values[slot] !== 0 && !this.#has(slot, digest)) slot = (slot + 1) & mask
    return slot
  }

  #has(slot: number, digest: Uint32Array): boolean {
    const at = slot * wordsPerDigest
    for (let word = 0; word < wordsPerDigest; word += 1) {
      if (this.#digests[at + word] !== digest[word]) return false
    }
    return true
  }

  #grow(): void {
    const larger = new DigestTable(this.#slots * 2)
    for (let slot = 0; slot < this.#slots; slot += 1) {
      if (this.#values[slot] === 0) continue
      const at = slot * wordsPerDigest
      larger.set(this.#digests.subarray(at, at + wordsPerDigest), this.#values[slot]! - 1)
    }
    this.#slots = larger.#slots
    this.#digests = larger.#digests
    this.#values = larger.#values
  }
}
