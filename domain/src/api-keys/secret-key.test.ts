import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { environments } from '@tollgate/schemas/environment'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  displayOfSecretKey,
  environmentOfSecretKey,
  faultOfAuthorization,
  generateSecretKey,
  sha256OfSecretKey,
} from './secret-key.ts'

const keys = fc
  .tuple(fc.constantFrom(...environments), fc.uint8Array({ minLength: 32, maxLength: 32 }))
  .map(([environment, bytes]) => ({
    environment,
    key: generateSecretKey(environment, () => bytes),
  }))

describe('secret keys', () => {
  it('have the documented form, even for the smallest and the largest secret', () => {
    const form = /^sk_(sandbox|live)_[0-9A-Za-z]{49}$/
    fc.assert(
      fc.property(keys, ({ key, environment }) => {
        expect(key).toMatch(form)
        expect(environmentOfSecretKey(key)).toBe(environment)
      }),
    )
    for (const fill of [0, 255]) {
      expect(generateSecretKey('live', (size) => Buffer.alloc(size, fill))).toMatch(form)
    }
  })

  it('end with the CRC-32 of everything before it', () => {
    const key = generateSecretKey('sandbox', randomBytes)
    const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
    const checksum = [...key.slice(-6)].reduce((sum, char) => sum * 62 + alphabet.indexOf(char), 0)
    expect(checksum).toBe(crc32(key.slice(0, -6)))
  })

  it('are refused after a change of any single character', () => {
    fc.assert(
      fc.property(keys, fc.nat(59), fc.constantFrom('0', 'Z', 'a', '_', ' '), (made, at, char) => {
        const index = at % made.key.length
        fc.pre(made.key[index] !== char)
        const changed = made.key.slice(0, index) + char + made.key.slice(index + 1)
        expect(environmentOfSecretKey(changed)).toBeUndefined()
      }),
    )
  })

  it.each(['', 'sk_live_', 'sk_live_short', `pk_live_${'0'.repeat(49)}`])('exclude %j', (text) => {
    expect(environmentOfSecretKey(text)).toBeUndefined()
  })

  it('show their prefix and their last 4 characters', () => {
    const key = generateSecretKey('live', randomBytes)
    expect(displayOfSecretKey(key)).toBe(`sk_live_...${key.slice(-4)}`)
  })

  it('are stored as their SHA-256', () => {
    expect(sha256OfSecretKey('abc')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    )
  })
})

describe('the fault of an Authorization header that is refused', () => {
  const key = generateSecretKey('sandbox', randomBytes)

  it.each([
    ['', 'missing_key'],
    ['Bearer', 'missing_key'],
    ['bearer  ', 'missing_key'],
    ['Basic dXNlcg==', 'malformed_key'],
    [key, 'malformed_key'],
    [`Bearer ${key}x`, 'malformed_key'],
    [`Bearer ${key} ${key}`, 'malformed_key'],
    [`Bearer ${key}`, 'invalid_key'],
  ])('of %j is %s', (authorization, fault) => {
    expect(faultOfAuthorization(authorization)).toBe(fault)
  })
})
