import { generateTokenKey, type TokenKey } from '@tollgate/domain/customer-auth/token-keys'
import type { ProviderDatabases } from '@tollgate/platform/database/database'
import { SecretBox } from '@tollgate/platform/secrets/secret-box'
import { beforeEach, expect, test } from 'vitest'
import { KeyRing } from './signing-keys.ts'

const secrets = new SecretBox([{ id: 'test', bytes: Buffer.alloc(32, 1) }])
const key = await generateTokenKey(secrets, 'prv_1', new Date(0))

type Reading = {
  readonly promise: Promise<readonly TokenKey[]>
  readonly resolve: (keys: readonly TokenKey[]) => void
  readonly reject: (error: Error) => void
}

/** Database reads in order. The test resolves or rejects each of them. */
let readings: Reading[] = []
let nowMs = 0
let ring: KeyRing

beforeEach(() => {
  readings = []
  nowMs = 1_000
  const read = (): Reading['promise'] => {
    const reading = withResolvers()
    readings.push(reading)
    return reading.promise
  }
  const database = { of: () => ({ in: () => ({ read }) }) } as unknown as ProviderDatabases
  const parts = { database, secrets, clock: { now: () => nowMs } }
  ring = new KeyRing(parts, 90 * 86_400_000)
})

function withResolvers(): Reading {
  let settle: Omit<Reading, 'promise'> | undefined
  const promise = new Promise<readonly TokenKey[]>((resolve, reject) => {
    settle = { resolve, reject }
  })
  return { promise, ...settle! }
}

const keys = () => ring.of('sandbox', 'prv_1')

test('reads keys again for the next call after a failed read', async () => {
  const failed = keys()
  readings[0]!.reject(new Error('away'))
  await expect(failed).rejects.toThrow('away')
  const read = keys()
  readings[1]!.resolve([key])
  expect((await read)[0].kid).toBe(key.kid)
})

test('keeps a newer read when an older one fails late', async () => {
  const late = keys()
  nowMs += 2_000
  const newer = keys()
  readings[1]!.resolve([key])
  readings[0]!.reject(new Error('away'))
  await expect(late).rejects.toThrow('away')
  const found = await newer
  expect(found[0].kid).toBe(key.kid)
  // The later result stays in the cache, so this call reads nothing.
  expect(await keys()).toBe(found)
  expect(readings).toHaveLength(2)
})

test('returns the same array for unchanged keys', async () => {
  const first = keys()
  readings[0]!.resolve([key])
  nowMs += 2_000
  const second = keys()
  readings[1]!.resolve([key])
  expect(await second).toBe(await first)
})
