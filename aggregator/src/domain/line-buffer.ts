/**
 * Bytes that grow. Each line goes into them at once and is garbage while it is young; one long string of all lines is
 * a tree of a hundred thousand pieces that outlives several collections, which took more time than all else together.
 */
export class LineBuffer {
  #bytes: Buffer
  #used = 0

  constructor(bytesAtStart: number) {
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(bytesAtStart, 1_024))
  }

  add(line: string): void {
    // No UTF-16 unit becomes more than three bytes of UTF-8.
    const needed = this.#used + line.length * 3
    if (needed > this.#bytes.length) this.#grow(needed)
    this.#used += this.#bytes.write(line, this.#used)
  }

  /** A view of what was added. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#used)
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2))
    this.#bytes.copy(larger, 0, 0, this.#used)
    this.#bytes = larger
  }
}
