import { eventApiVersion, type EventEnvelope } from '@tollgate/schemas/http/webhooks'
import type { OutboxEvent } from './outbox-event.ts'
import { unixSeconds } from '../periods/periods.ts'

/** Returns the body that receivers get, as text. */
export function envelopeText(event: OutboxEvent): string {
  const envelope: EventEnvelope = {
    id: event.eventId,
    type: event.type,
    created: unixSeconds(event.createdAt),
    api_version: eventApiVersion,
    data: { object: event.object, previous_attributes: event.previousAttributes },
    livemode: event.livemode,
    request: { id: event.requestId, idempotency_key: event.idempotencyKey },
  }
  return JSON.stringify(envelope)
}
