import { describe, expect, it } from 'vitest'
import { eventCategories, eventDefinitions, eventTypes } from './event-types.ts'
import { sampleEvents } from './http/examples/events.ts'
import { eventEnvelopeSchema } from './http/webhooks.ts'
import type { EventDefinition } from './events/event.ts'

const definitions: Readonly<Record<string, EventDefinition>> = eventDefinitions

describe('the catalogue of events', () => {
  it('has 53 types, each in one category', () => {
    expect(eventTypes).toHaveLength(53)
    const listed = eventCategories.flatMap(({ events }) => Object.keys(events))
    expect(listed.toSorted()).toEqual(eventTypes.toSorted())
  })

  it.each(sampleEvents.map((event) => [event.type, event] as const))(
    'has a valid example of %s',
    (type, event) => {
      expect(eventEnvelopeSchema.parse(event)).toEqual(event)
      const { object, previous } = definitions[type]!
      expect(object.parse(event.data.object)).toEqual(event.data.object)
      if (previous === undefined) expect(event.data.previous_attributes).toBeNull()
      else expect(previous.parse(event.data.previous_attributes)).toBeTruthy()
    },
  )

  it('refuses a field that the event type does not have', () => {
    for (const { type, data } of sampleEvents) {
      const { object } = definitions[type]!
      expect(object.safeParse({ ...data.object, more: 1 }).success, type).toBe(false)
      for (const field of Object.keys(data.object)) {
        const { [field]: left, ...rest } = data.object
        expect(object.safeParse(rest).success, `${type} without ${field}: ${String(left)}`).toBe(
          false,
        )
      }
    }
  })
})
