import { decodeMeterEvent } from '@tollgate/schemas/meter-event-codec'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import type { LogRecord } from '@tollgate/platform/event-log/event-log'
import type { DecodedBatch, EventRecord, UnreadableRecord } from './decoded-batch.ts'

/** Decodes the records of one range. The result shares no memory with the log's buffers. */
export class BatchDecoder {
  readonly #fromOffset: number
  #toOffset: number
  readonly #events: EventRecord[] = []
  readonly #unreadable: UnreadableRecord[] = []

  constructor(fromOffset: number) {
    this.#fromOffset = fromOffset
    this.#toOffset = fromOffset
  }

  get toOffset(): number {
    return this.#toOffset
  }

  add(records: readonly LogRecord[]): void {
    for (const record of records) {
      this.#toOffset = record.offset + 1
      try {
        const event = decodeMeterEvent(record.value)
        checkStorable(event)
        this.#events.push({ offset: record.offset, event })
      } catch (error) {
        this.#unreadable.push({
          offset: record.offset,
          receivedAtMs: record.receivedAtMs,
          value: new Uint8Array(record.value),
          error: error instanceof Error ? error.message : String(error),
        })
      }
    }
  }

  finish(): DecodedBatch {
    return {
      fromOffset: this.#fromOffset,
      toOffset: this.#toOffset,
      events: this.#events,
      unreadable: this.#unreadable,
    }
  }
}

/** 2100-01-01. The hours that every column type of the store can represent end before 2106. */
const timestampMaxMs = 4_102_444_800_000

/**
 * Ingest accepts no such event. If one is in the log nevertheless, the store would refuse its whole batch at every attempt, so both
 * projections treat it as unreadable.
 */
function checkStorable(event: MeterEvent): void {
  if (!isStorableTime(event.timestamp))
    throw new Error(`timestamp ${event.timestamp} is out of range`)
  if (!isStorableTime(event.receivedAt))
    throw new Error(`receivedAt ${event.receivedAt} is out of range`)
}

function isStorableTime(unixMs: number): boolean {
  return unixMs >= 0 && unixMs < timestampMaxMs
}
