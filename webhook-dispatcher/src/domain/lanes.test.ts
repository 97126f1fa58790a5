import { expect, test } from 'vitest'
import { Lanes } from './lanes.ts'

const now = new Date('2026-03-01T10:00:00Z')
const later = (seconds: number) => new Date(now.getTime() + seconds * 1_000)

test('knows of an endpoint only what differs from the others', () => {
  const lanes = new Lanes(2)
  expect(lanes.room(now)).toEqual({})
  lanes.enter('we_A')
  lanes.enter('we_A')
  lanes.enter('we_B')
  expect(lanes.room(now)).toEqual({ we_A: 0, we_B: 1 })
  lanes.leave('we_A', false, now)
  lanes.leave('we_B', false, now)
  expect(lanes.room(now)).toEqual({ we_A: 1 })
})

test('sends one at a time where an answer did not come, and more again with each that does', () => {
  const lanes = new Lanes(4)
  for (let sent = 0; sent < 4; sent += 1) lanes.enter('we_A')
  lanes.leave('we_A', true, now)
  expect(lanes.room(now)).toEqual({ we_A: 0 })
  for (let sent = 0; sent < 3; sent += 1) lanes.leave('we_A', true, now)
  expect(lanes.room(now)).toEqual({ we_A: 1 })
  const rooms = [2, 3, 4].map(() => {
    lanes.enter('we_A')
    lanes.leave('we_A', false, now)
    return lanes.room(now)['we_A']
  })
  expect(rooms).toEqual([2, 3, undefined])
})

test('forgets an endpoint to which nothing was sent for a day, and none while it is sent to', () => {
  const lanes = new Lanes(4)
  for (const endpointRef of ['we_A', 'we_B']) {
    lanes.enter(endpointRef)
    lanes.leave(endpointRef, true, now)
  }
  lanes.enter('we_B')
  expect(lanes.room(later(86_400))).toEqual({ we_A: 1, we_B: 0 })
  expect(lanes.room(later(86_401))).toEqual({ we_B: 0 })
})
