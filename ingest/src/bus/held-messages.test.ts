import { expect, it } from 'vitest'
import { HeldMessages } from './held-messages.ts'

it('has room by number and by bytes, and always for one message', () => {
  const held = new HeldMessages({ countMax: 3, bytesMax: 1_000 })
  expect(held.room(100)).toBe(3)
  expect(held.room(400)).toBe(2)
  // Larger than all that may be held: alone it goes through.
  expect(held.room(5_000)).toBe(1)
  held.hold(700)
  expect([held.room(100), held.room(200), held.room(400)]).toEqual([2, 1, 0])
  held.hold(1)
  held.hold(1)
  expect(held.room(1)).toBe(0)
  held.release(1)
  expect(held.room(1)).toBe(1)
})

it('waits until everything is released, or for as long as it may', async () => {
  const held = new HeldMessages({ countMax: 3, bytesMax: 1_000 })
  held.hold(10)
  held.hold(10)
  const startedMs = performance.now()
  await held.untilEmpty(50)
  expect(performance.now() - startedMs).toBeGreaterThan(40)
  expect(held.count).toBe(2)
  const empty = held.untilEmpty(60_000)
  held.release(10)
  held.release(10)
  await empty
  expect([held.count, held.bytes]).toEqual([0, 0])
})
