import { expect, test } from 'vitest'
import { Interruptions } from './interruptions.ts'
import { NotReadyError } from './launch-service.ts'

/** Returns the error that a service reports if it ends while it starts. */
const refusal = (words: string): Error =>
  new NotReadyError(`control-plane: ${words} Log: /log`, false)

test.each([
  'the database system is in recovery mode',
  'the database system is starting up',
  'the database system is shutting down',
  'the database system is not yet accepting connections',
])('repeats a start while PostgreSQL reports: %s', (words) => {
  const interruptions = new Interruptions()
  expect(
    [1, 4, 25].map((launches) => interruptions.isWorthRetry(refusal(words), launches)),
  ).toEqual([...[true, true, true]])
})

test('retries an unavailable store 3 times, and no other error', () => {
  const interruptions = new Interruptions()
  const isRepeated = (words: string, launches: number) =>
    interruptions.isWorthRetry(refusal(words), launches)
  expect(isRepeated('connect ECONNREFUSED 127.0.0.1:5432', 3)).toBe(true)
  expect(isRepeated('connect ECONNREFUSED 127.0.0.1:5432', 4)).toBe(false)
  expect(isRepeated('relation "plans" does not exist', 1)).toBe(false)
})

test('repeats any failed start shortly after a part ended', () => {
  const interruptions = new Interruptions()
  interruptions.recordEnd()
  expect(interruptions.isWorthRetry(refusal('whatever'), 20)).toBe(true)
})
