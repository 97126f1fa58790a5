import type { Environment } from '@tollgate/schemas/environment'
import type { MeterEvent } from '@tollgate/schemas/meter-event'

/** An event and where in the log it belongs. */
export type PlacedEvent = {
  readonly event: MeterEvent
  readonly subject: string
  readonly partition: number
  /**
   * Where else a record with the same idempotency key may be: usage that a wallet pays is recorded beside the wallet, and
   * whether one pays may have been different at the first try.
   */
  readonly otherPartition?: number
}

export type PlaceEvent = (environment: Environment, event: MeterEvent) => PlacedEvent
