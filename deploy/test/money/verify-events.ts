import { eventDefinitions, isEventType } from '@tollgate/schemas/event-types'
import type { EventDefinition } from '@tollgate/schemas/events/event'
import { expect } from 'vitest'
import type { Books } from './books.ts'

/** Validates every emitted event against the schema of its type. */
export async function verifyEvents({ sql, providerId }: Books): Promise<void> {
  const events = await sql<{ type: string; object: unknown; previous: unknown }[]>`
    select type, object, previous_attributes as previous from outbox
    where provider_id = ${providerId} order by sequence`
  for (const event of events) expect([event, ...faultsOf(event)]).toEqual([event])
}

function faultsOf({
  type,
  object,
  previous,
}: {
  type: string
  object: unknown
  previous: unknown
}) {
  if (!isEventType(type)) return ['there is no such type']
  const definition: EventDefinition = eventDefinitions[type]
  const parsed = definition.object.safeParse(object)
  const before = definition.previous?.safeParse(previous) ?? { success: previous === null }
  return [...(parsed.success ? [] : parsed.error.issues), ...(before.success ? [] : ['previous'])]
}
