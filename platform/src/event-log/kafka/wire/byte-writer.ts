/** Encodes the data types of Kafka's requests into a growing buffer. */
export class ByteWriter {
  #buffer: Buffer
  #length = 0

  constructor(bytesAtStart = 512) {
    this.#buffer = Buffer.allocUnsafe(bytesAtStart)
  }

  get length(): number {
    return this.#length
  }

  /** Returns a view of the written bytes, not a copy. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  clear(): void {
    this.#length = 0
  }

  int8(value: number): this {
    this.#reserve(1)
    this.#length = this.#buffer.writeInt8(value, this.#length)
    return this
  }

  int16(value: number): this {
    this.#reserve(2)
    this.#length = this.#buffer.writeInt16BE(value, this.#length)
    return this
  }

  int32(value: number): this {
    this.#reserve(4)
    this.#length = this.#buffer.writeInt32BE(value, this.#length)
    return this
  }

  /** Writes a safe integer as 64 bits. */
  int64(value: number): this {
    const high = Math.floor(value / 2 ** 32)
    return this.int32(high).uint32(value - high * 2 ** 32)
  }

  uint32(value: number): this {
    this.#reserve(4)
    this.#length = this.#buffer.writeUInt32BE(value, this.#length)
    return this
  }

  text(value: string | null): this {
    if (value === null) return this.int16(-1)
    const bytes = Buffer.byteLength(value)
    this.int16(bytes)
    this.#reserve(bytes)
    this.#length += this.#buffer.write(value, this.#length)
    return this
  }

  raw(value: Uint8Array): this {
    this.#reserve(value.byteLength)
    this.#buffer.set(value, this.#length)
    this.#length += value.byteLength
    return this
  }

  utf8(value: string, bytes: number): this {
    this.#reserve(bytes)
    this.#length += this.#buffer.write(value, this.#length)
    return this
  }

  array<Item>(items: readonly Item[], write: (item: Item) => void): this {
    this.int32(items.length)
    for (const item of items) write(item)
    return this
  }

  /**
   * Writes an integer between -2^52 and 2^52 (as milliseconds, all years to 140,000) in zigzag encoding with seven bits per byte.
   */
  varint(value: number): this {
    let rest = value < 0 ? -2 * value - 1 : 2 * value
    this.#reserve(varintBytesMax)
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) {
      this.#buffer[this.#length++] = (rest % 128) | 0x80
    }
    this.#buffer[this.#length++] = rest
    return this
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#buffer.byteLength) return
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.byteLength * 2))
    this.#buffer.copy(larger, 0, 0, this.#length)
    this.#buffer = larger
  }
}

/** Maximum bytes of a varint of 53 bits. */
const varintBytesMax = 8

/** Returns the number of bytes that `varint` writes. */
export function varintBytes(value: number): number {
  let rest = value < 0 ? -2 * value - 1 : 2 * value
  let bytes = 1
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes += 1
  return bytes
}
