import type { Environment } from '@tollgate/schemas/environment'
import type { MeterEvent } from '@tollgate/schemas/meter-event'

/** An event and the partition of the log that it belongs to. */
export type PlacedEvent = {
  readonly event: MeterEvent
  readonly subject: string
  readonly partition: number
  /**
   * Another partition that may contain a record with the same idempotency key. Usage that a wallet pays for is recorded in the
   * wallet's partition, and at the first attempt the wallet may not have been the payer.
   */
  readonly otherPartition?: number
}

export type PlaceEvent = (environment: Environment, event: MeterEvent) => PlacedEvent
