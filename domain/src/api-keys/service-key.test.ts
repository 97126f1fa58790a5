import { expect, test } from 'vitest'
import { holderOfServiceKey, isServiceKey, serviceKeyOf } from './service-key.ts'

const holder = { environment: 'sandbox', providerId: 'prv_Zz09_a-b' } as const
const key = serviceKeyOf('secret', holder)

test('a service key identifies the provider and the environment that it was derived for', () => {
  expect(isServiceKey(`Bearer ${key}`)).toBe(true)
  expect(holderOfServiceKey('secret', `Bearer ${key}`)).toEqual(holder)
})

test.each([
  ['another secret', 'other', `Bearer ${key}`],
  ['another environment', 'secret', `Bearer ${key.replace('sandbox', 'live')}`],
  ['another provider', 'secret', `Bearer ${key.replace('Zz09', 'Zz08')}`],
  ['a changed code', 'secret', `Bearer ${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`],
  ['a longer code', 'secret', `Bearer ${key}0`],
  ['no bearer', 'secret', key],
  ['nothing', 'secret', ''],
])('a service key with %s identifies no provider', (_, secret, authorization) => {
  expect(holderOfServiceKey(secret, authorization)).toBeUndefined()
})
