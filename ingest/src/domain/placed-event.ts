import type { Environment } from '@tollgate/schemas/environment'
import type { MeterEvent } from '@tollgate/schemas/meter-event'

/** An event and where in the log it belongs. */
export type PlacedEvent = {
  readonly event: MeterEvent
  readonly subject: string
  readonly partition: number
}

export type PlaceEvent = (environment: Environment, event: MeterEvent) => PlacedEvent
