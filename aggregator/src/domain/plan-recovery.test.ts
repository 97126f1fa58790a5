import { describe, expect, it } from 'vitest'
import { planRecovery, type RecoveryFacts } from './plan-recovery.ts'

const fresh: RecoveryFacts = {
  appliedOffset: 0,
  oldest: 0,
  storedOffset: 0,
  hasMovedRecords: false,
  replayRecordsMax: 100,
}

describe('planRecovery', () => {
  it.each<[string, Partial<RecoveryFacts>, unknown]>([
    ['counts a new partition from its log', {}, { kind: 'go-on', offset: 0 }],
    ['goes on where the counts are', { appliedOffset: 7, oldest: 3 }, { kind: 'go-on', offset: 7 }],
    [
      'sums up where an older copy of the counts is behind the log',
      { appliedOffset: 2, oldest: 3, storedOffset: 9 },
      { kind: 'restore', offset: 9 },
    ],
    [
      'leaves counts alone that are behind the log and the store, which is for the projection to refuse',
      { appliedOffset: 2, oldest: 4, storedOffset: 3 },
      { kind: 'go-on', offset: 2 },
    ],
    ['counts a short log again', { storedOffset: 99 }, { kind: 'go-on', offset: 0 }],
    ['sums up a long one', { storedOffset: 100 }, { kind: 'restore', offset: 100 }],
    ['sums up any log when it is told to', { replayRecordsMax: 0 }, { kind: 'restore', offset: 0 }],
    [
      'sums up a log that was trimmed, however short',
      { oldest: 1, storedOffset: 5 },
      { kind: 'restore', offset: 5 },
    ],
    [
      'sums up what was moved here, also before the first record',
      { hasMovedRecords: true },
      { kind: 'restore', offset: 0 },
    ],
    [
      'takes what the log has from the log when the sink lost its position',
      { oldest: 40, storedOffset: 0 },
      { kind: 'restore', offset: 40 },
    ],
  ])('%s', (_, facts, plan) => {
    expect(planRecovery({ ...fresh, ...facts })).toEqual(plan)
  })
})
