import { expect, test } from 'vitest'
import { MemoryStore } from './key-value-store.ts'
import { SimulatedClock } from './simulated-clock.ts'

/** Returns a clock whose time advances with each reading. */
function tickingClock(): { clock: SimulatedClock; restarted: () => SimulatedClock } {
  let realMs = 1_000
  const store = new MemoryStore()
  const open = (): SimulatedClock => new SimulatedClock(store, { now: () => (realMs += 1) })
  return { clock: open(), restarted: open }
}

test('can be held at its current time', () => {
  const { clock, restarted } = tickingClock()
  const before = clock.now()
  clock.moveBy(0, true)
  const held = clock.now()
  expect(held).toBeGreaterThan(before)
  expect(clock.now()).toBe(held)
  expect(restarted().now()).toBe(held)
})

test('moves forward, and refuses to move back', () => {
  const { clock } = tickingClock()
  const before = clock.now()
  clock.moveBy(0, false)
  expect(clock.now()).toBeGreaterThan(before)
  clock.moveBy(5_000, false)
  expect(clock.now()).toBeGreaterThan(before + 5_000)
  expect(() => clock.moveTo(before, false)).toThrow('The clock cannot be moved back.')
})
