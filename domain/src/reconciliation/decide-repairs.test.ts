import { expect, test } from 'vitest'
import { decideRepairs } from './decide-repairs.ts'
import type { PossibleRepair } from './finding.ts'

const counts: PossibleRepair = { repair: { kind: 'counts', partition: 3 }, isForbidden: false }
const published: PossibleRepair = {
  repair: { kind: 'published', providerId: 'prv_1', customerRef: 'cus_1' },
  isForbidden: false,
}
const everybody = { providerId: undefined }
const behind = 'not all usage was counted and stored in time'

test('carries out repairs if everything was compared', () => {
  expect(decideRepairs([counts, published], everybody, [])).toEqual({
    repairs: [counts.repair, published.repair],
    withheld: [],
  })
  const elsewhere = [{ kind: 'billed_usage', reason: behind }] as const
  expect(decideRepairs([counts], everybody, elsewhere).repairs).toEqual([counts.repair])
})

test('keeps counts if records are lost', () => {
  expect(decideRepairs([{ ...counts, isForbidden: true }, published], everybody, [])).toEqual({
    repairs: [published.repair],
    withheld: [{ repair: counts.repair, reason: 'records are gone' }],
  })
})

test('keeps counts if only one provider was compared', () => {
  expect(decideRepairs([counts, published], { providerId: 'prv_1' }, [])).toEqual({
    repairs: [published.repair],
    withheld: [{ repair: counts.repair, reason: 'one provider alone' }],
  })
})

test('keeps counts if not all wallets could be compared', () => {
  const gaps = [{ kind: 'wallet', reason: behind }] as const
  expect(decideRepairs([counts, published], everybody, gaps)).toEqual({
    repairs: [published.repair],
    withheld: [{ repair: counts.repair, reason: 'wallets not compared' }],
  })
})
