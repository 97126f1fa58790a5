import type { MeterEvent } from '@tollgate/schemas/meter-event'
import type { DecodedBatch } from './decoded-batch.ts'

/**
 * Maximum bytes of the rows that a batch has beyond one row per record. ClickHouse would refuse a batch that is too large again at
 * every retry. Together with the rows of the largest batch (sinkBatchBytesMax) they stay below what the embedded ClickHouse accepts.
 */
export const furtherRowBytesMax = 20 * 1024 * 1024

/** Bytes of a row besides its texts. */
const rowBytes = 160
/** A UTF-16 unit becomes at most 3 bytes of UTF-8. */
const bytesPerChar = 3

/**
 * Returns the batch, or its beginning if records that count on many meters have too many rows. It has at least one record. The end
 * of a batch is chosen once, before anything of it is stored.
 */
export function boundRows(batch: DecodedBatch, bytesMax = furtherRowBytesMax): DecodedBatch {
  let bytes = 0
  for (const { offset, event } of batch.events) {
    if (event.counts.length === 0) continue
    bytes += furtherRowBytes(event)
    if (bytes > bytesMax) return beginningOf(batch, Math.max(offset, batch.fromOffset + 1))
  }
  return batch
}

function beginningOf(batch: DecodedBatch, toOffset: number): DecodedBatch {
  return {
    fromOffset: batch.fromOffset,
    toOffset,
    events: batch.events.filter(({ offset }) => offset < toOffset),
    unreadable: batch.unreadable.filter(({ offset }) => offset < toOffset),
  }
}

function furtherRowBytes(event: MeterEvent): number {
  const { counts, dimensions } = event
  let shared = event.id.length + event.providerId.length + event.customerRef.length
  shared += (event.productRef?.length ?? 0) + (event.purchaseRef?.length ?? 0)
  shared += (event.idempotencyKey?.length ?? 0) + (event.eventType?.length ?? 0)
  for (const name in dimensions) shared += name.length + dimensions[name]!.length + 4
  let bytes = 0
  for (const { meterName, text } of counts) {
    bytes += (shared + meterName.length + (text?.length ?? 0)) * bytesPerChar + rowBytes
  }
  return bytes
}
