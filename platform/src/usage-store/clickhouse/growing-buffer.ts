const bytesAtStart = 65_536

/** A growing byte buffer for ClickHouse's binary formats. It can be cleared and used again. */
export class GrowingBuffer {
  #bytes = Buffer.allocUnsafeSlow(bytesAtStart)
  #view = viewOf(this.#bytes)
  #used = 0
  /** Start of the text that was written last. */
  #textAt = 0

  /** Returns the bytes written since the last `clear`. They are valid until the next `clear`. */
  written(): Uint8Array {
    return this.#bytes.subarray(0, this.#used)
  }

  clear(): void {
    this.#used = 0
  }

  /** Writes an unsigned length in LEB128: seven bits per byte. */
  writeLength(length: number): void {
    this.#used = writeLength(length, this.#bytes, this.#room(lengthBytesMax))
  }

  writeUInt32(value: number): void {
    if (value !== value >>> 0) throw new RangeError(`${value} does not fit into 32 bits`)
    const at = this.#room(4)
    this.#view.setUint32(at, value, true)
    this.#used = at + 4
  }

  /** Writes a safe integer as 64 bits in two's complement. Throws a RangeError for other numbers. */
  writeInt64(value: number): void {
    if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is no safe integer`)
    const at = this.#room(8)
    this.#view.setUint32(at, value >>> 0, true)
    this.#view.setInt32(at + 4, Math.floor(value / 2 ** 32), true)
    this.#used = at + 8
  }

  /** Writes text in UTF-8 after its length in bytes. */
  writeText(text: string): void {
    const { length } = text
    const at = this.#room(lengthBytesMax + length * utf8BytesMax)
    this.#textAt = at
    if (length > shortTextChars) return this.#writeLongText(text, at)
    const bytes = this.#bytes
    bytes[at] = length
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index)
      if (code > 127) return this.#writeLongText(text, at)
      bytes[at + 1 + index] = code
    }
    this.#used = at + 1 + length
  }

  /** Writes the text again that was written last. Nothing else may have been written since. */
  repeatText(): void {
    const from = this.#textAt
    const length = this.#used - from
    const at = this.#room(length)
    const bytes = this.#bytes
    if (length > shortTextChars) bytes.copyWithin(at, from, from + length)
    else for (let index = 0; index < length; index++) bytes[at + index] = bytes[from + index]!
    this.#textAt = at
    this.#used = at + length
  }

  #writeLongText(text: string, at: number): void {
    // The length comes before the text but is known only after encoding. Space is reserved as for ASCII; longer text is moved.
    const textAt = at + lengthBytes(text.length)
    const written = this.#bytes.write(text, textAt)
    const rightAt = at + lengthBytes(written)
    if (rightAt !== textAt) this.#bytes.copyWithin(rightAt, textAt, textAt + written)
    this.#used = writeLength(written, this.#bytes, at) + written
  }

  /** Makes room for `bytes` more bytes and returns the position of the next value. */
  #room(bytes: number): number {
    const needed = this.#used + bytes
    if (needed > this.#bytes.length) this.#grow(needed)
    return this.#used
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2))
    this.#bytes.copy(larger, 0, 0, this.#used)
    this.#bytes = larger
    this.#view = viewOf(larger)
  }
}

/** Longer texts are encoded by Node. For shorter ones, a loop costs less than the call. */
const shortTextChars = 48
/** A UTF-16 unit becomes at most 3 bytes of UTF-8. */
const utf8BytesMax = 3
/** Bytes of a length below 2^35. */
const lengthBytesMax = 5

function writeLength(length: number, bytes: Buffer, at: number): number {
  while (length > 127) {
    bytes[at++] = (length & 127) | 128
    length >>>= 7
  }
  bytes[at++] = length
  return at
}

/** Returns the number of bytes of an encoded length. */
function lengthBytes(length: number): number {
  let bytes = 1
  for (let rest = length >>> 7; rest > 0; rest >>>= 7) bytes += 1
  return bytes
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
