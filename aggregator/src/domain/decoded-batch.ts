import type { MeterEvent } from '@tollgate/schemas/meter-event'

/** A record of the log that is a meter event. */
export type EventRecord = {
  readonly offset: number
  readonly event: MeterEvent
}

/** A record of the log that nobody can read; kept aside, it never holds up the records behind it. */
export type UnreadableRecord = {
  readonly offset: number
  readonly receivedAtMs: number
  readonly value: Uint8Array
  readonly error: string
}

/** The records [fromOffset, toOffset) of one partition, each group in the order of the log. */
export type DecodedBatch = {
  readonly fromOffset: number
  readonly toOffset: number
  readonly events: readonly EventRecord[]
  readonly unreadable: readonly UnreadableRecord[]
}
