import { expect, test } from 'vitest'
import { MemoryPages } from './pages.ts'
import { SimulatedClock } from './simulated-clock.ts'

/** Returns a clock whose time advances with each reading. */
function clockThatTicks(): { clock: SimulatedClock; restarted: () => SimulatedClock } {
  let realMs = 1_000
  const pages = new MemoryPages()
  const open = (): SimulatedClock => new SimulatedClock(pages, { now: () => (realMs += 1) })
  return { clock: open(), restarted: open }
}

test('can be held where it stands, though time passes', () => {
  const { clock, restarted } = clockThatTicks()
  const before = clock.now()
  clock.moveBy(0, true)
  const held = clock.now()
  expect(held).toBeGreaterThan(before)
  expect(clock.now()).toBe(held)
  expect(restarted().now()).toBe(held)
})

test('moves forward and never back', () => {
  const { clock } = clockThatTicks()
  const before = clock.now()
  clock.moveBy(0, false)
  expect(clock.now()).toBeGreaterThan(before)
  clock.moveBy(5_000, false)
  expect(clock.now()).toBeGreaterThan(before + 5_000)
  expect(() => clock.moveTo(before, false)).toThrow('The clock cannot be moved back.')
})
