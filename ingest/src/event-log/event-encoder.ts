import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { encodeMeterEvent } from '@tollgate/schemas/meter-event-codec'

const bytesAtStart = 64 * 1024

/** Encodes events into one buffer that is reused, since the log copies the bytes that it gets. */
export class EventEncoder {
  readonly #schemaId: number
  #buffer = Buffer.allocUnsafeSlow(bytesAtStart)

  /** `schemaId` is the id of the current schema in the log. */
  constructor(schemaId: number) {
    this.#schemaId = schemaId
  }

  /** Returns a view of the buffer that is valid until the next call. */
  encode(event: MeterEvent): Uint8Array {
    return this.#buffer.subarray(0, this.#write(event, 0))
  }

  /** Returns views of the buffer that are valid until the next call. */
  encodeAll(events: readonly MeterEvent[]): Uint8Array[] {
    let start = 0
    // When the buffer grows, earlier views keep the smaller buffer, whose bytes stay unchanged.
    return events.map((event) => {
      const end = this.#write(event, start)
      const view = this.#buffer.subarray(start, end)
      start = end
      return view
    })
  }

  #write(event: MeterEvent, start: number): number {
    for (;;) {
      const end = encodeMeterEvent(event, this.#buffer, start, this.#schemaId)
      if (end >= 0) return end
      this.#grow(this.#buffer.byteLength - end)
    }
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.byteLength * 2))
    this.#buffer.copy(larger)
    this.#buffer = larger
  }
}
