import { expect, test } from 'vitest'
import { UsageLag } from './usage-lag.ts'

const at = (...offsets: number[]) => new Map(offsets.entries())

let nowMs = 0
const lag = new UsageLag(() => nowMs)
const secondsAfter = (passedMs: number): number => {
  nowMs += passedMs
  return lag.seconds('live')
}

test('returns the time since the sink was at the emitted position', () => {
  expect(secondsAfter(5_000)).toBe(5)
  lag.record('live', at(10, 20), at(10, 20))
  expect(secondsAfter(1_000)).toBe(6)
  // The events of everything stored 5 seconds ago are emitted, and more was stored since.
  lag.record('live', at(15, 20), at(10, 20))
  expect(lag.seconds('live')).toBe(1)
  // One partition is blocked, so the lag grows from the time when the sink was at its position.
  for (let round = 0; round < 60; round += 1) {
    nowMs += 1_000
    lag.record('live', at(100 + round, 200 + round), at(14, 200 + round))
  }
  expect(lag.seconds('live')).toBe(61)
  lag.record('live', at(200, 300), at(15, 260))
  expect(lag.seconds('live')).toBe(60)
  nowMs += 1_000
  lag.record('live', at(200, 300), at(200, 300))
  expect(lag.seconds('live')).toBe(1)
})

test('measures each environment separately', () => {
  expect(lag.seconds('sandbox')).toBe(nowMs / 1_000)
})

test('continues after the sink restarts from the beginning', () => {
  lag.record('live', at(0, 0), at(200, 300))
  nowMs += 2_000
  lag.record('live', at(50, 0), at(200, 300))
  expect(lag.seconds('live')).toBe(2)
})
