import { expect, test } from 'vitest'
import { ownStores, simulatesStripe } from './stores.ts'

test('runs every store itself unless its URL is configured', () => {
  const all = { log: true, hotState: true, postgres: true, clickhouse: true }
  expect(ownStores({})).toEqual(all)
  expect(ownStores({ TOLLGATE_DATABASE_URL: '', TOLLGATE_EVENT_LOG: 'embedded' })).toEqual(all)
  expect(ownStores({ TOLLGATE_EVENT_LOG: 'kafka' })).toEqual({ ...all, log: false })
  expect(ownStores({ TOLLGATE_HOT_STATE: 'redis' })).toEqual({ ...all, hotState: false })
  expect(ownStores({ TOLLGATE_DATABASE_URL: 'postgres://x' })).toEqual({ ...all, postgres: false })
  expect(ownStores({ TOLLGATE_CLICKHOUSE_URL: 'http://x' })).toEqual({ ...all, clickhouse: false })
})

test('simulates Stripe in both environments or in none', () => {
  expect(simulatesStripe({})).toBe(true)
  expect(simulatesStripe({ TOLLGATE_STRIPE_SANDBOX_SECRET_KEY: '' })).toBe(true)
  expect(simulatesStripe({ TOLLGATE_STRIPE_SANDBOX_SECRET_KEY: 'sk_test_1' })).toBe(false)
  expect(simulatesStripe({ TOLLGATE_STRIPE_LIVE_SECRET_KEY: 'sk_live_1' })).toBe(false)
})
