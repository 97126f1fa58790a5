import { expect, it } from 'vitest'
import { sweepLimits } from './retention.ts'

const retention = {
  marksMs: 1_000,
  windowsMs: 2_000,
  slotsMs: 3_000,
  knownSubjectSlotsMs: 4_000,
  sweepKeysMax: 10,
}

it('keeps the marks of records in the log', () => {
  expect(sweepLimits(retention, 10_999, 500).marksReceivedBeforeMs).toBe(500)
  expect(sweepLimits(retention, 10_999, 10_500).marksReceivedBeforeMs).toBe(9_999)
})

it('computes the limits from the current time, those of windows and slots in whole seconds', () => {
  expect(sweepLimits(retention, 10_999, undefined)).toEqual({
    marksReceivedBeforeMs: 9_999,
    reservationsExpiredBeforeMs: 10_999 - 600_000,
    windowsEndedBeforeSecond: 8,
    slotsBeforeSecond: 7,
    knownSubjectSlotsBeforeSecond: 6,
    keysMax: 10,
  })
})
