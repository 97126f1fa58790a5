import { readFileSync } from 'node:fs'
import { eventDefinitions } from '@tollgate/schemas/event-types'
import { eventEnvelopeSchema } from '@tollgate/schemas/http/webhooks'
import { expect, test } from 'vitest'

const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8')

test('the page lists every event type with its description, and no other', () => {
  const documented = page
    .split('## The events\n')[1]!
    .split('\n')
    .filter((line) => /^\| `[a-z_.]+`\s+\|/.test(line))
    .map((line) => line.slice(2, -2).split(/\s*\| ?/))
    .map(([type = '', happened]) => [type.replaceAll('`', ''), happened?.trim()])
  const expected = Object.entries(eventDefinitions).map(([type, { description }]) => [
    type,
    description[0]!.toLowerCase() + description.slice(1),
  ])
  expect(documented).toEqual(expected)
})

test('the example event on the page is valid, in a shortened form', () => {
  const shown = eventEnvelopeSchema
    .strict()
    .parse(JSON.parse(page.split('```json\n')[1]!.split('```')[0]!))
  const { object, previous } = eventDefinitions['purchase.past_due']
  expect(shown.type).toBe('purchase.past_due')
  expect(Object.keys(object.shape)).toEqual(
    expect.arrayContaining(Object.keys(shown.data.object as object)),
  )
  expect(previous.parse(shown.data.previous_attributes)).toEqual(shown.data.previous_attributes)
})
