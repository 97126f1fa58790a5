import { describe, expect, test } from 'vitest'
import { errorExamples } from './errors.ts'
import type { Examples } from './example.ts'
import { operationExamples } from './operations.ts'

const all = [
  ...Object.entries(operationExamples).flatMap(([operationId, { body, answer }]) => [
    ...(body === undefined ? [] : rowsOf(`what ${operationId} is sent`, body)),
    ...rowsOf(`what ${operationId} answers`, answer),
  ]),
  ...Object.entries(errorExamples).flatMap(([name, examples]) => rowsOf(name, examples)),
]

function rowsOf(what: string, { schema, values }: Examples) {
  return Object.entries(values).map(
    ([title, value]) => [`${what}: ${title}`, schema, value] as const,
  )
}

describe('an example is accepted by its schema with all its fields', () => {
  test.each(all)('%s', (_, schema, value) => {
    // The schema drops unknown fields, so they would be missing here.
    expect(schema.parse(value)).toMatchObject(value as object)
  })
})

test('all examples are JSON', () => {
  for (const [, , value] of all) expect(JSON.parse(JSON.stringify(value))).toEqual(value)
})
