import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newReference } from './references.ts'
import {
  keyedUsageReference,
  randomUsageReference,
  usageReferenceEntropyBytes,
} from './usage-reference.ts'

describe('newReference', () => {
  it('returns the prefix and twelve alphanumerics', () => {
    expect(newReference('product', randomBytes)).toMatch(/^prd_[A-Z0-9]{12}$/)
    expect(newReference('customer', randomBytes)).toMatch(/^cus_[a-z0-9]{12}$/)
  })

  it('requests more bytes if some were discarded to keep all characters equally likely', () => {
    const asked: number[] = []
    const entropy = (size: number) => Buffer.alloc(size, asked.push(size) < 3 ? 255 : 1)
    expect(newReference('plan', entropy)).toBe('pln_BBBBBBBBBBBB')
    expect(asked.length).toBe(3)
  })
})

describe('keyedUsageReference', () => {
  it('never changes, since retries of old calls depend on it', () => {
    expect(keyedUsageReference('sandbox', 'prv_1', 'cus_1', 'key-1')).toBe(
      'usage_71VZJT6KD87VVE2CDMD1GPVTJ4',
    )
  })

  it('differs if any part differs, wherever the parts are separated', () => {
    const part = fc.string({ unit: fc.constantFrom('1', ':', 'a'), maxLength: 4 })
    const scope = fc.tuple(fc.constantFrom('sandbox' as const, 'live' as const), part, part, part)
    fc.assert(
      fc.property(scope, scope, (one, other) => {
        const isSame = JSON.stringify(one) === JSON.stringify(other)
        expect(keyedUsageReference(...one) === keyedUsageReference(...other)).toBe(isSame)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('randomUsageReference', () => {
  it('is a ULID of the time and the entropy', () => {
    // The time is the example of the ULID specification, with all random bits set.
    const entropy = Buffer.alloc(20, 0xff)
    expect(randomUsageReference(1469918176385, entropy, 10)).toBe(
      'usage_01ARYZ6S41ZZZZZZZZZZZZZZZZ',
    )
  })

  it('sorts by time', () => {
    const ms = fc.integer({ min: 0, max: 2 ** 48 - 1 })
    fc.assert(
      fc.property(ms, ms, (one, other) => {
        fc.pre(one < other)
        const early = randomUsageReference(one, randomBytes(usageReferenceEntropyBytes))
        const late = randomUsageReference(other, randomBytes(usageReferenceEntropyBytes))
        expect(early < late).toBe(true)
      }),
    )
  })
})
