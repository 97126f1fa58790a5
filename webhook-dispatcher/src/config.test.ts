import { expect, test } from 'vitest'
import { SettingsError } from '@tollgate/platform/config/settings'
import { readWebhookDispatcherConfig } from './config.ts'

const read = (settings: Readonly<Record<string, string>>) =>
  readWebhookDispatcherConfig({ TOLLGATE_DATABASE_URL: 'postgres://', ...settings })

test.each([
  ['20000', '10000'],
  ['1', '1'],
])('refuses a lease of %s ms if one request may take %s ms', (lease, timeout) => {
  const settings = {
    TOLLGATE_WEBHOOK_LEASE_MS: lease,
    TOLLGATE_OUTBOUND_TIMEOUT_MS: timeout,
  }
  expect(() => read(settings)).toThrow(SettingsError)
  expect(() => read(settings)).toThrow(
    `TOLLGATE_WEBHOOK_LEASE_MS=${lease}: must be more than twice TOLLGATE_OUTBOUND_TIMEOUT_MS=${timeout}`,
  )
})

test('accepts a lease that is longer than two requests', () => {
  expect(read({ TOLLGATE_WEBHOOK_LEASE_MS: '20001' })).toMatchObject({ leaseMs: 20_001 })
  expect(read({})).toMatchObject({ leaseMs: 60_000, outboundTimeoutMs: 10_000 })
})
