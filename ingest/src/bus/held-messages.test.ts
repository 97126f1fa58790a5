import { expect, it } from 'vitest'
import { HeldMessages } from './held-messages.ts'

it('bounds held messages by number and bytes, and always accepts one message if none is held', () => {
  const held = new HeldMessages({ countMax: 3, bytesMax: 1_000 })
  expect(held.capacityFor(100)).toBe(3)
  expect(held.capacityFor(400)).toBe(2)
  // A message that is larger than the byte bound is accepted while no other is held.
  expect(held.capacityFor(5_000)).toBe(1)
  held.hold(700)
  expect([held.capacityFor(100), held.capacityFor(200), held.capacityFor(400)]).toEqual([2, 1, 0])
  held.hold(1)
  held.hold(1)
  expect(held.capacityFor(1)).toBe(0)
  held.release(1)
  expect(held.capacityFor(1)).toBe(1)
})

it('waits until all messages are released or the timeout has passed', async () => {
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
