/** Decodes the data types of Kafka's responses. Throws a RangeError after the end. */
export class ByteReader {
  readonly #buffer: Buffer
  #at: number
  readonly #end: number

  constructor(buffer: Buffer, start = 0, end = buffer.byteLength) {
    this.#buffer = buffer
    this.#at = start
    this.#end = end
  }

  get position(): number {
    return this.#at
  }

  skip(bytes: number): this {
    this.#take(bytes)
    return this
  }

  int8(): number {
    return this.#buffer.readInt8(this.#take(1))
  }

  int16(): number {
    return this.#buffer.readInt16BE(this.#take(2))
  }

  int32(): number {
    return this.#buffer.readInt32BE(this.#take(4))
  }

  int64(): number {
    const at = this.#take(8)
    return this.#buffer.readInt32BE(at) * 2 ** 32 + this.#buffer.readUInt32BE(at + 4)
  }

  text(): string {
    const bytes = this.int16()
    if (bytes < 0) return ''
    const at = this.#take(bytes)
    return this.#buffer.toString('utf8', at, at + bytes)
  }

  /** Returns a view, not a copy. */
  raw(bytes: number): Buffer {
    const at = this.#take(bytes)
    return this.#buffer.subarray(at, at + bytes)
  }

  array<Item>(read: () => Item): Item[] {
    // A null array has the length -1.
    const length = Math.max(0, this.int32())
    return Array.from({ length }, read)
  }

  varint(): number {
    let rest = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#buffer[this.#take(1)]!
      rest += (byte & 0x7f) * factor
      if (byte < 0x80) break
    }
    return rest % 2 === 0 ? rest / 2 : -(rest + 1) / 2
  }

  #take(bytes: number): number {
    const at = this.#at
    if (at + bytes > this.#end) throw new RangeError('The response of Kafka ends too early.')
    this.#at = at + bytes
    return at
  }
}
