import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { murmur2, partitionOf, subjectKey } from './subject.ts'

describe('murmur2', () => {
  // The vectors of Kafka's own UtilsTest, so that a Java client that uses the subject as key chooses the same partition.
  it.each([
    ['21', -973932308],
    ['foobar', -790332482],
    ['a-little-bit-long-string', -985981536],
    ['a-little-bit-longer-string', -1486304829],
    ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
    ['abc', 479470107],
  ])('hashes %s like Kafka', (text, hash) => {
    expect(murmur2(Buffer.from(text))).toBe(hash)
  })
})

describe('partitionOf', () => {
  it('returns an existing partition', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.integer({ min: 1, max: 1000 }),
        (key, count) => {
          const partition = partitionOf(key, count)
          return Number.isInteger(partition) && partition >= 0 && partition < count
        },
      ),
    )
  })
})

describe('subjectKey', () => {
  it('returns different keys for different subjects', () => {
    const text = fc.string({ unit: fc.constantFrom('1', '2', ':', 'a', '') })
    fc.assert(
      fc.property(text, text, text, text, (providerA, customerA, providerB, customerB) => {
        const same = providerA === providerB && customerA === customerB
        expect(subjectKey(providerA, customerA) === subjectKey(providerB, customerB)).toBe(same)
      }),
      { numRuns: 2000 },
    )
  })
})
