import { expect, test } from 'vitest'
import { generateEventId } from './generate-event-id.ts'

test('event ids grow with time, and within one millisecond in the order of their generation', () => {
  const instants = [0, 1, 1, 1, 2, 2 ** 32, 2 ** 32 + 1, Date.parse('2026-03-01T10:00:00Z')]
  const ids = instants.flatMap((ms) =>
    Array.from({ length: 100 }, () => generateEventId(new Date(ms))),
  )
  expect(ids.toSorted()).toEqual(ids)
  expect(new Set(ids).size).toBe(ids.length)
  for (const id of ids) expect(id).toMatch(/^evt_[0-9A-Z]{26}$/)
})
