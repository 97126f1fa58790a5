import { z } from 'zod'
import { eventCategories, type EventType } from '@tollgate/schemas/event-types'
import type { EventDefinition } from '@tollgate/schemas/events/event'
import { sampleEvent } from '@tollgate/schemas/http/examples/events'

/** Returns the text of `docs/events.md`, generated from the event catalogue. */
export function eventsPage(): string {
  const head = [
    '# Events',
    '',
    'What webhooks tell of. An endpoint receives the types that it names, or all of them. Each delivery is an envelope with',
    "`data.object` as below: objects may gain fields, so do not refuse those that you don't know.",
    '`GET /v1/sdk/webhooks/event-schema?type=…` shows a whole event of any type; the API description (`/v1/openapi.json`) has',
    'all of them as schemas. `npm run docs` generates this page from the catalogue.',
  ]
  return [...head, ...eventCategories.flatMap(categoryLines), ''].join('\n')
}

type Category = (typeof eventCategories)[number]

function categoryLines({ label, description, events }: Category): string[] {
  const lines = ['', `## ${label}`, '', `${description}.`]
  const groups = new Map<z.ZodObject, Group>()
  for (const event of Object.entries(events)) {
    const { object } = event[1]
    groups.set(object, [...(groups.get(object) ?? []), event])
  }
  return [...lines, ...[...groups.values()].flatMap(groupLines)]
}

/** Event types with the same object schema. */
type Group = readonly (readonly [string, EventDefinition])[]

function groupLines(group: Group): string[] {
  const [first, { object, previous }] = group[0]!
  const { object: example } = sampleEvent(first as EventType).data
  return [
    '',
    ...group.map(([type, { description }]) => `- \`${type}\`: ${description}`),
    '',
    ...tableLines(object),
    ...(previous === undefined ? [] : previousLines(previous)),
    '',
    '```json',
    JSON.stringify(example, undefined, 2),
    '```',
  ]
}

function previousLines(previous: z.ZodObject): string[] {
  return ['', 'And in `data.previous_attributes`:', '', ...tableLines(previous)]
}

type FieldSchema = {
  readonly type?: string | readonly string[]
  readonly const?: string
  readonly enum?: readonly string[]
  readonly anyOf?: readonly FieldSchema[]
  readonly properties?: Readonly<Record<string, FieldSchema>>
  readonly description?: string
}

function tableLines(object: z.ZodObject): string[] {
  const { properties = {} } = z.toJSONSchema(object, { io: 'output' }) as FieldSchema
  const rows = Object.entries(properties).map(
    ([name, field]) => `| \`${name}\` | ${typeText(field)} | ${descriptionOf(field)} |`,
  )
  return ['| Field | Type | |', '| --- | --- | --- |', ...rows]
}

function descriptionOf({ description, anyOf = [] }: FieldSchema): string {
  return description ?? anyOf.map(descriptionOf).find((text) => text !== '') ?? ''
}

function typeText(field: FieldSchema): string {
  const { type, enum: values, const: value, anyOf, properties } = field
  if (anyOf !== undefined) return anyOf.map(typeText).join(' or ')
  if (value !== undefined) return `\`${value}\``
  if (values !== undefined) return values.map((each) => `\`${each}\``).join(', ')
  if (properties === undefined) return [type ?? ''].flat().join(' or ')
  const inside = Object.entries(properties).map(([name, of]) => `${name}: ${typeText(of)}`)
  return `{${inside.join(', ')}}`
}
