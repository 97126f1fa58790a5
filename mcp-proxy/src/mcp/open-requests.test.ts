import { expect, test } from 'vitest'
import type { ServedServer } from '../servers/served-server.ts'
import { callerOf } from './open-requests.ts'

const server = { environment: 'sandbox', providerId: 'prv_1' } as ServedServer
const anonymous = (address: string): string => callerOf(server, undefined, address)

test('counts all addresses of a network together for callers without a token', () => {
  expect(anonymous('2001:db8:1:2::1')).toBe(anonymous('2001:db8:1:2:ffff::2'))
  expect(anonymous('2001:db8:1:2::1')).not.toBe(anonymous('2001:db8:1:3::1'))
  expect(anonymous('192.0.2.1')).not.toBe(anonymous('192.0.2.2'))
  expect(anonymous('192.0.2.1')).not.toBe(callerOf(server, 'cus_1', '192.0.2.1'))
})
