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
    ['counts a new partition from its log', {}, { kind: 'continue', offset: 0 }],
    [
      'continues at the applied offset',
      { appliedOffset: 7, oldest: 3 },
      { kind: 'continue', offset: 7 },
    ],
    [
      'restores from ClickHouse if an older copy of the counts is behind the log',
      { appliedOffset: 2, oldest: 3, storedOffset: 9 },
      { kind: 'restore', offset: 9 },
    ],
    [
      'continues if the counts are behind both the log and ClickHouse, so that the projection reports it',
      { appliedOffset: 2, oldest: 4, storedOffset: 3 },
      { kind: 'continue', offset: 2 },
    ],
    ['counts a short log again', { storedOffset: 99 }, { kind: 'continue', offset: 0 }],
    [
      'restores a long log from ClickHouse',
      { storedOffset: 100 },
      { kind: 'restore', offset: 100 },
    ],
    [
      'restores any log from ClickHouse if no replay is allowed',
      { replayRecordsMax: 0 },
      { kind: 'restore', offset: 0 },
    ],
    [
      'restores a trimmed log from ClickHouse, however short',
      { oldest: 1, storedOffset: 5 },
      { kind: 'restore', offset: 5 },
    ],
    [
      'restores moved records from ClickHouse, even before the first record of the log',
      { hasMovedRecords: true },
      { kind: 'restore', offset: 0 },
    ],
    [
      'counts the records that the log has from the log if the sink lost its position',
      { oldest: 40, storedOffset: 0 },
      { kind: 'restore', offset: 40 },
    ],
  ])('%s', (_, facts, plan) => {
    expect(planRecovery({ ...fresh, ...facts })).toEqual(plan)
  })
})
