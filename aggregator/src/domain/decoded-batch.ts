import type { MeterEvent } from '@tollgate/schemas/meter-event'

/** A record of the log that is a meter event. */
export type EventRecord = {
  readonly offset: number
  readonly event: MeterEvent
}

/** A record of the log that cannot be decoded. It is stored separately, so that it does not block later records. */
export type UnreadableRecord = {
  readonly offset: number
  readonly receivedAtMs: number
  readonly value: Uint8Array
  readonly error: string
}

/** The records [fromOffset, toOffset) of one partition, in the order of the log. */
export type DecodedBatch = {
  readonly fromOffset: number
  readonly toOffset: number
  readonly events: readonly EventRecord[]
  readonly unreadable: readonly UnreadableRecord[]
}
