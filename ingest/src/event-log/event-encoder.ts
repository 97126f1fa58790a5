import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { encodeMeterEvent } from '@tollgate/schemas/meter-event-codec'

const bytesAtStart = 64 * 1024

/** Encodes events into one buffer that is used over and over: the log copies what it is given. */
export class EventEncoder {
  readonly #schemaId: number
  #buffer = Buffer.allocUnsafeSlow(bytesAtStart)

  /** `schemaId` is what the log calls the current schema. */
  constructor(schemaId: number) {
    this.#schemaId = schemaId
  }

  /** The view is valid until the next call. */
  encode(event: MeterEvent): Uint8Array {
    return this.#buffer.subarray(0, this.#write(event, 0))
  }

  /** The views are valid until the next call. */
  encodeAll(events: readonly MeterEvent[]): Uint8Array[] {
    let start = 0
    // A buffer that had to grow leaves the earlier views on the smaller one, where their bytes still stand.
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
