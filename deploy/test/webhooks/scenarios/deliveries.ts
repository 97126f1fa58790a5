import { eventDefinitions, isEventType, type EventType } from '@tollgate/schemas/event-types'
import type { EventDefinition } from '@tollgate/schemas/events/event'
import type { WebhookEndpointWithSecretBody } from '@tollgate/schemas/http/webhook-endpoints'
import { eventEnvelopeSchema, type EventEnvelope } from '@tollgate/schemas/http/webhooks'
import { expect } from 'vitest'
import { Receiver } from './receiver.ts'
import type { ScenarioWorld } from './scenario-world.ts'

const arrivesWithinMs = 60_000

/** The deliveries that a receiver of the provider got. */
export class Deliveries {
  readonly receiver: Receiver

  private constructor(receiver: Receiver) {
    this.receiver = receiver
  }

  static async open(world: ScenarioWorld): Promise<Deliveries> {
    const receiver = await Receiver.open(() => world.clock.now())
    const { url } = receiver
    const path = '/v1/webhook_endpoints'
    const endpoint = await world.call<WebhookEndpointWithSecretBody>('POST', path, { url })
    receiver.secret = endpoint.secret
    return new Deliveries(receiver)
  }

  close(): Promise<void> {
    return this.receiver.close()
  }

  /** Waits for an event of the type whose object matches. Returns the event. */
  async expect(type: EventType, object: Readonly<Record<string, unknown>>): Promise<EventEnvelope> {
    const wanted: unknown = expect.objectContaining(object)
    const deadline = performance.now() + arrivesWithinMs
    for (;;) {
      const events = this.events().filter((event) => event.type === type)
      const found = events.find(({ data }) => isEqual(data.object, wanted))
      if (found !== undefined) return found
      if (performance.now() > deadline) {
        expect(events.map(({ data }) => data.object)).toContainEqual(wanted)
      }
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
  }

  /** Returns the events in the order of arrival. Throws if one violates its schema. */
  events(): EventEnvelope[] {
    return this.receiver.received.map(({ body }) => readEvent(body))
  }
}

function isEqual(one: unknown, other: unknown): boolean {
  try {
    expect(one).toEqual(other)
    return true
  } catch {
    return false
  }
}

function readEvent(body: string): EventEnvelope {
  const event = eventEnvelopeSchema.parse(JSON.parse(body))
  if (!isEventType(event.type)) throw new Error(`there is no event ${event.type}`)
  const { object, previous }: EventDefinition = eventDefinitions[event.type]
  object.parse(event.data.object)
  if (previous === undefined) expect(event.data.previous_attributes).toBeNull()
  else previous.parse(event.data.previous_attributes)
  expect(event.livemode).toBe(false)
  return event
}
