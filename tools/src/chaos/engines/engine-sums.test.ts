import { describe, expect, it } from 'vitest'
import { findDifference, type CustomerSums } from './engine-sums.ts'

const exact: CustomerSums = {
  customerRef: 'ada',
  isKeyed: true,
  acked: 12,
  sent: 12,
  counted: 12,
  inRedis: 12,
  queried: 12,
  stored: 12,
  rolledUp: 12,
  ackedRecords: 4,
  sentRecords: 4,
  storedRecords: 4,
  rowsTwice: 0,
}
/** Two records of 3 units each got no answer, and one of them was stored. */
const unkeyed: CustomerSums = {
  ...exact,
  isKeyed: false,
  acked: 9,
  sent: 15,
  ackedRecords: 3,
  sentRecords: 5,
}

describe('the sums of a customer', () => {
  it.each([
    ['that all agree', exact],
    ['whose unanswered records without keys may or may not be there', unkeyed],
  ])('%s', (_, sums) => {
    expect(findDifference(sums)).toBeUndefined()
  })

  it.each<[string, Partial<CustomerSums>, RegExp]>([
    ['lost in the limit check', { counted: 11 }, /counted 11/],
    ['counted twice in Redis', { inRedis: 13 }, /inRedis 13/],
    ['lost in the usage query', { queried: 0 }, /queried 0/],
    ['rolled up twice', { rolledUp: 24 }, /rolledUp 24/],
    ['stored in two rows', { rowsTwice: 1 }, /1 rows twice/],
    ['acknowledged and nowhere', { acked: 13 }, /acked 13/],
    ['as many units in fewer records', { storedRecords: 3 }, /3 records\), acked 12 \(4 records\)/],
  ])('that were %s', (_, change, difference) => {
    expect(findDifference({ ...exact, ...change })).toMatch(difference)
  })

  it.each<[string, Partial<CustomerSums>]>([
    ['an acknowledged one', { acked: 13, ackedRecords: 4 }],
    ['one too many', { sent: 11 }],
    ['one record too many', { sentRecords: 3 }],
  ])('of records without keys: %s', (_, change) => {
    expect(findDifference({ ...unkeyed, ...change })).toMatch(/acked \d+ to sent \d+/)
  })
})
