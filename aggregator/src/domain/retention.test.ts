import { expect, it } from 'vitest'
import { sweepLimits } from './retention.ts'

it('counts back from now, windows and slots in whole seconds', () => {
  const retention = {
    marksMs: 1_000,
    windowsMs: 2_000,
    slotsMs: 3_000,
    knownSubjectSlotsMs: 4_000,
    logMs: 5_000,
    sweepKeysMax: 10,
  }
  expect(sweepLimits(retention, 10_999)).toEqual({
    marksReceivedBeforeMs: 9_999,
    windowsEndedBeforeSecond: 8,
    slotsBeforeSecond: 7,
    knownSubjectSlotsBeforeSecond: 6,
    keysMax: 10,
  })
})
