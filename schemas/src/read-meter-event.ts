import { outcomes, type EventCount, type MeterEvent } from './meter-event.ts'

/*
 * Reads the Avro body of a meter event field by field. Both projections read every record with this code, and a generic codec takes
 * three times as long. It reads only what `writeMeterEvent` writes and leaves everything else to the generic codec: property tests
 * compare the two on valid and on damaged bytes.
 */

/** Texts of this length or less are compared with the last text of their field, because most records repeat them. */
const comparedBytesMax = 48
/** Names of further counts and dimensions of one event are not compared. */
const comparedTextsMax = 32

/** Thrown when bytes are not as `writeMeterEvent` writes them. It is created once, because damaged records may be many. */
const unusual = new Error('The generic codec must read this record')

export class MeterEventReader {
  #bytes: Buffer = Buffer.alloc(0)
  #at = 0
  readonly #providerId = new LastText()
  readonly #meterName = new LastText()
  readonly #productRef = new LastText()
  readonly #source = new LastText()
  readonly #eventType = new LastText()
  readonly #dimensions: LastText[] = []
  readonly #countNames: LastText[] = []

  /** Returns the event from `at` to the end of the bytes, or undefined if the generic codec must read it. */
  read(bytes: Buffer, at: number): MeterEvent | undefined {
    this.#bytes = bytes
    this.#at = at
    try {
      const event = this.#event()
      return this.#at === bytes.length ? event : undefined
    } catch (error) {
      if (error === unusual) return undefined
      throw error
    }
  }

  #event(): MeterEvent {
    return {
      id: this.#text(),
      providerId: this.#repeatedText(this.#providerId),
      customerRef: this.#text(),
      meterName: this.#repeatedText(this.#meterName),
      value: this.#long(),
      timestamp: this.#long(),
      receivedAt: this.#long(),
      productRef: this.#hasText() ? this.#repeatedText(this.#productRef) : null,
      purchaseRef: this.#optionalText(),
      outcome: outcomes[this.#long()] ?? giveUp(),
      source: this.#repeatedText(this.#source),
      idempotencyKey: this.#optionalText(),
      properties: this.#text(),
      reservationId: this.#optionalText(),
      traceParent: this.#optionalText(),
      debit: this.#optionalText(),
      eventType: this.#hasText() ? this.#repeatedText(this.#eventType) : null,
      dimensions: this.#readDimensions(),
      counts: this.#readCounts(),
    }
  }

  /** Reads a map, which has at most one block. */
  #readDimensions(): Record<string, string> {
    const entries = this.#blockLength()
    const dimensions: Record<string, string> = {}
    for (let index = 0; index < entries; index++) {
      const name = this.#listedText(this.#dimensions, 2 * index)
      if (name === '__proto__') giveUp()
      dimensions[name] = this.#listedText(this.#dimensions, 2 * index + 1)
    }
    if (entries > 0 && this.#long() !== 0) giveUp()
    return dimensions
  }

  #readCounts(): EventCount[] {
    const total = this.#blockLength()
    const counts: EventCount[] = []
    for (let index = 0; index < total; index++) {
      const meterName = this.#listedText(this.#countNames, index)
      counts.push({ meterName, value: this.#long(), text: this.#optionalText() })
    }
    if (total > 0 && this.#long() !== 0) giveUp()
    return counts
  }

  /** Avro also has blocks with a negative length, which the size in bytes follows. */
  #blockLength(): number {
    const length = this.#long()
    // Each item has at least one byte, so more items than bytes are no items.
    return length < 0 || length > this.#bytes.length ? giveUp() : length
  }

  #optionalText(): string | null {
    return this.#hasText() ? this.#text() : null
  }

  #hasText(): boolean {
    const branch = this.#bytes[this.#at++]
    return branch === 2 || (branch === 0 ? false : giveUp())
  }

  #text(): string {
    const length = this.#textLength()
    this.#at += length
    return this.#bytes.toString('utf8', this.#at - length, this.#at)
  }

  #repeatedText(last: LastText): string {
    const length = this.#textLength()
    const from = this.#at
    this.#at += length
    return last.read(this.#bytes, from, length)
  }

  /** Reads a text that probably equals the text at the same place of the last event. */
  #listedText(texts: LastText[], index: number): string {
    if (index >= comparedTextsMax) return this.#text()
    return this.#repeatedText((texts[index] ??= new LastText()))
  }

  #textLength(): number {
    const length = this.#long()
    return length < 0 || length > this.#bytes.length - this.#at ? giveUp() : length
  }

  /** Reads a zigzag varint of any safe integer. */
  #long(): number {
    const bytes = this.#bytes
    let byte = bytes[this.#at++] ?? giveUp()
    const isNegative = (byte & 1) === 1
    let magnitude = (byte & 127) >> 1
    for (let scale = 64; byte > 127; scale *= 128) {
      byte = bytes[this.#at++] ?? giveUp()
      magnitude += (byte & 127) * scale
    }
    const value = isNegative ? -magnitude - 1 : magnitude
    return Number.isSafeInteger(value) ? value : giveUp()
  }
}

function giveUp(): never {
  throw unusual
}

/** The last text of a field. A comparison of bytes costs less than a new string. */
class LastText {
  readonly #bytes = Buffer.alloc(comparedBytesMax)
  #length = -1
  #text = ''

  read(bytes: Buffer, from: number, length: number): string {
    const last = this.#bytes
    if (length === this.#length) {
      let index = 0
      while (index < length && bytes[from + index] === last[index]) index += 1
      if (index === length) return this.#text
    }
    const text = bytes.toString('utf8', from, from + length)
    if (length <= comparedBytesMax) {
      for (let index = 0; index < length; index++) last[index] = bytes[from + index]!
      this.#length = length
      this.#text = text
    }
    return text
  }
}
