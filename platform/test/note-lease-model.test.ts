import { describe, expect, it } from 'vitest'
import { fullRule, searchMissed, type Rule, type Scope } from './note-lease-model.ts'

const small: Scope = {
  partitions: 1,
  events: [1, 1],
  checkers: 1,
  recordsMax: 4,
  claimsMax: 1,
  failures: ['promote', 'demote', 'restart', 'flush'],
  failuresMax: 1,
}

describe('the rule of the note lease', () => {
  it.each<[string, Scope]>([
    ['two appenders', small],
    [
      'two homes one after the other, and two failures',
      { ...small, events: [1], recordsMax: 6, claimsMax: 2, failuresMax: 2 },
    ],
    ['two checkers', { ...small, events: [1], checkers: 2, failuresMax: 2 }],
    ['two partitions', { ...small, events: [2], partitions: 2 }],
  ])('misses no acknowledged event in any order of steps: %s', (_, scope) => {
    const { states, missed } = searchMissed(fullRule, scope)
    expect(missed).toBeUndefined()
    expect(states).toBeGreaterThan(4_000)
  })
})

describe('each part of the rule is needed', () => {
  const notesAlone = { hasLease: false, settles: false, hasFloor: false } as const

  it.each<[string, Partial<Rule>, Partial<Scope>]>([
    [
      'notes alone, after a failover',
      { ...notesAlone, identity: 'any', hasToken: false },
      { failures: ['promote'] },
    ],
    [
      'notes alone, with an older file',
      { ...notesAlone, identity: 'any', hasToken: false },
      { failures: ['restart'] },
    ],
    [
      'the identity of the server, after FLUSHALL',
      { ...notesAlone, hasToken: false },
      { failures: ['flush'] },
    ],
    ['a lease without settling', { settles: false }, {}],
    ['a lease without the token', { hasToken: false }, { failures: ['flush'] }],
    ['a lease without the identity of the server', { identity: 'any' }, { failures: ['promote'] }],
    [
      'the run id, when a master becomes a replica',
      { identity: 'process' },
      { failures: ['promote', 'demote'], failuresMax: 2 },
    ],
    ['no question to the log after settling', { hasFloor: false }, {}],
    ['no look at the lease after the note', { checksAfterNote: false }, { failures: ['promote'] }],
  ])('misses an acknowledged event: %s', (_, without, failing) => {
    const { missed } = searchMissed({ ...fullRule, ...without }, { ...small, ...failing })
    expect(missed?.at(-1)).toMatch(/reads/)
  })
})
