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
  duplicateRows: 0,
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

describe('findDifference', () => {
  it.each([
    ['equal sums', exact],
    ['unanswered records without keys, which may be stored or not', unkeyed],
  ])('returns undefined for %s', (_, sums) => {
    expect(findDifference(sums)).toBeUndefined()
  })

  it.each<[string, Partial<CustomerSums>, RegExp]>([
    ['lost in the limit check', { counted: 11 }, /counted 11/],
    ['counted twice in Redis', { inRedis: 13 }, /inRedis 13/],
    ['lost in the usage query', { queried: 0 }, /queried 0/],
    ['rolled up twice', { rolledUp: 24 }, /rolledUp 24/],
    ['stored in two rows', { duplicateRows: 1 }, /1 duplicate rows/],
    ['acknowledged and not stored', { acked: 13 }, /acked 13/],
    [
      'with the right units in too few records',
      { storedRecords: 3 },
      /3 records\), acked 12 \(4 records\)/,
    ],
  ])('reports usage %s', (_, change, difference) => {
    expect(findDifference({ ...exact, ...change })).toMatch(difference)
  })

  it.each<[string, Partial<CustomerSums>]>([
    ['an acknowledged record that is missing', { acked: 13, ackedRecords: 4 }],
    ['more units than were sent', { sent: 11 }],
    ['more records than were sent', { sentRecords: 3 }],
  ])('reports for records without keys: %s', (_, change) => {
    expect(findDifference({ ...unkeyed, ...change })).toMatch(/acked \d+ to sent \d+/)
  })
})
