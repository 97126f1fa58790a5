import { expect, test } from 'vitest'
import { createRequestIds } from './request-ids.ts'

test('names of requests are unique, and one says nothing about the next', () => {
  const newId = createRequestIds()
  const ids = Array.from({ length: 2_000 }, newId)
  expect(new Set(ids).size).toBe(ids.length)
  for (const id of ids) expect(id).toMatch(/^req_[0-9a-f]{24}$/)
  // The first half of a counter, or of a prefix, would be the same for all.
  expect(new Set(ids.map((id) => id.slice(0, 16))).size).toBe(ids.length)
})
