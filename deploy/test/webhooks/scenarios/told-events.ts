import { eventDefinitions, isEventType, type EventType } from '@tollgate/schemas/event-types'
import type { EventDefinition } from '@tollgate/schemas/events/event'
import { eventEnvelopeSchema, type EventEnvelope } from '@tollgate/schemas/http/webhooks'
import { expect } from 'vitest'
import type { ScenarioWorld } from './scenario-world.ts'

const toldWithinMs = 30_000

/** What the provider of a world is told, as it is sent to endpoints. Whatever does not have the promised shape throws. */
export class ToldEvents {
  readonly #world: ScenarioWorld
  /** By their ids. */
  readonly #events = new Map<string, EventEnvelope>()

  private constructor(world: ScenarioWorld) {
    this.#world = world
  }

  static async open(world: ScenarioWorld): Promise<ToldEvents> {
    await world.stack.database.in('sandbox')`
      insert into webhook_endpoints (provider_id, reference, url, created_at, updated_at)
      select provider_id, 'we_SCENARIOS', 'https://example.com', now(), now()
      from products where reference = ${world.productRef}`
    return new ToldEvents(world)
  }

  /** Sooner or later there is an event of the type that says so, and what else it says. */
  async expect(type: EventType, object: Readonly<Record<string, unknown>>): Promise<EventEnvelope> {
    const wanted: unknown = expect.objectContaining(object)
    const says = ({ data }: EventEnvelope): boolean => this.#isEqual(data.object, wanted)
    const ofType = (): EventEnvelope[] =>
      [...this.#events.values()].filter((event) => event.type === type)
    const deadline = performance.now() + toldWithinMs
    for (;;) {
      await this.#read()
      const found = ofType().find(says)
      if (found !== undefined) return found
      if (performance.now() > deadline) {
        expect(ofType().map(({ data }) => data.object)).toContainEqual(wanted)
      }
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
  }

  types(): string[] {
    return [...new Set([...this.#events.values()].map(({ type }) => type))]
  }

  #isEqual(one: unknown, other: unknown): boolean {
    try {
      expect(one).toEqual(other)
      return true
    } catch {
      return false
    }
  }

  async #read(): Promise<void> {
    const rows = await this.#world.stack.database.in('sandbox')<{ body: string | null }[]>`
      select body from webhook_deliveries join outbox using (provider_id, event_id)
      where endpoint_ref = 'we_SCENARIOS' order by webhook_deliveries.sequence`
    // That of a customer who was deleted is made again when it is sent.
    const events = rows.flatMap(({ body }) => (body === null ? [] : [readEvent(body)]))
    for (const event of events) this.#events.set(event.id, event)
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
