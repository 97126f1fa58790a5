import { expect, test } from 'vitest'
import { Lanes } from './lanes.ts'

test('knows of an endpoint only what differs from the others', () => {
  const lanes = new Lanes(2)
  expect(lanes.room).toEqual({})
  lanes.enter('we_A')
  lanes.enter('we_A')
  lanes.enter('we_B')
  expect(lanes.room).toEqual({ we_A: 0, we_B: 1 })
  lanes.leave('we_A', false)
  lanes.leave('we_B', false)
  expect(lanes.room).toEqual({ we_A: 1 })
})

test('sends one at a time where an answer did not come, and more again with each that does', () => {
  const lanes = new Lanes(4)
  for (let sent = 0; sent < 4; sent += 1) lanes.enter('we_A')
  lanes.leave('we_A', true)
  expect(lanes.room).toEqual({ we_A: 0 })
  for (let sent = 0; sent < 3; sent += 1) lanes.leave('we_A', true)
  expect(lanes.room).toEqual({ we_A: 1 })
  const rooms = [2, 3, 4].map(() => {
    lanes.enter('we_A')
    lanes.leave('we_A', false)
    return lanes.room['we_A']
  })
  expect(rooms).toEqual([2, 3, undefined])
})
