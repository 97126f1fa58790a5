import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { encodeMeterEvent } from '@tollgate/schemas/meter-event-codec'

let buffer = Buffer.allocUnsafe(65_536)

/** Returns the event encoded as a record of the target's log. */
export function encodeEvent(event: MeterEvent, schemaId: number): Uint8Array {
  for (;;) {
    const end = encodeMeterEvent(event, buffer, 0, schemaId)
    if (end >= 0) return new Uint8Array(buffer.subarray(0, end))
    buffer = Buffer.allocUnsafe(buffer.length - end)
  }
}
