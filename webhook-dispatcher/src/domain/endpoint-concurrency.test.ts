import { expect, test } from 'vitest'
import { EndpointConcurrency } from './endpoint-concurrency.ts'

const now = new Date('2026-03-01T10:00:00Z')
const later = (seconds: number) => new Date(now.getTime() + seconds * 1_000)

test('returns only endpoints that have less than the full limit available', () => {
  const concurrency = new EndpointConcurrency(2)
  expect(concurrency.room(now)).toEqual({})
  concurrency.enter('we_A')
  concurrency.enter('we_A')
  concurrency.enter('we_B')
  expect(concurrency.room(now)).toEqual({ we_A: 0, we_B: 1 })
  concurrency.leave('we_A', false, now)
  concurrency.leave('we_B', false, now)
  expect(concurrency.room(now)).toEqual({ we_A: 1 })
})

test('limits an endpoint to one delivery after a timeout, and raises the limit with each response', () => {
  const concurrency = new EndpointConcurrency(4)
  for (let sent = 0; sent < 4; sent += 1) concurrency.enter('we_A')
  concurrency.leave('we_A', true, now)
  expect(concurrency.room(now)).toEqual({ we_A: 0 })
  for (let sent = 0; sent < 3; sent += 1) concurrency.leave('we_A', true, now)
  expect(concurrency.room(now)).toEqual({ we_A: 1 })
  const rooms = [2, 3, 4].map(() => {
    concurrency.enter('we_A')
    concurrency.leave('we_A', false, now)
    return concurrency.room(now)['we_A']
  })
  expect(rooms).toEqual([2, 3, undefined])
})

test('forgets an endpoint without attempts for a day, but not while a delivery to it is in flight', () => {
  const concurrency = new EndpointConcurrency(4)
  for (const endpointRef of ['we_A', 'we_B']) {
    concurrency.enter(endpointRef)
    concurrency.leave(endpointRef, true, now)
  }
  concurrency.enter('we_B')
  expect(concurrency.room(later(86_400))).toEqual({ we_A: 1, we_B: 0 })
  expect(concurrency.room(later(86_401))).toEqual({ we_B: 0 })
})
