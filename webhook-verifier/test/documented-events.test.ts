import { readFileSync } from 'node:fs'
import { eventDefinitions } from '@tollgate/schemas/event-types'
import { expect, test } from 'vitest'

const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8')

test('the page has every type with its fields, and no other', () => {
  const documented = page
    .split('## The events\n')[1]!
    .split('\n')
    .filter((line) => /^\| `[a-z_.]+`\s+\|/.test(line))
    .map((line) => line.slice(2, -2).split(/\s*\| ?/))
    .map(([type = '', , object, previous]) => [type.replaceAll('`', ''), object, previous?.trim()])
  const expected = Object.entries(eventDefinitions).map(([type, definition]) => [
    type,
    Object.keys(definition.object.shape).join(', '),
    'previous' in definition ? Object.keys(definition.previous.shape).join(', ') : '',
  ])
  expect(documented).toEqual(expected)
})
