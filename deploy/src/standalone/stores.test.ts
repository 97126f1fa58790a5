import { expect, test } from 'vitest'
import { ownStores } from './stores.ts'

test('runs every store itself unless it is told where another one is', () => {
  const all = { log: true, hotState: true, postgres: true, clickhouse: true }
  expect(ownStores({})).toEqual(all)
  expect(ownStores({ TOLLGATE_DATABASE_URL: '', TOLLGATE_EVENT_LOG: 'embedded' })).toEqual(all)
  expect(ownStores({ TOLLGATE_EVENT_LOG: 'kafka' })).toEqual({ ...all, log: false })
  expect(ownStores({ TOLLGATE_HOT_STATE: 'redis' })).toEqual({ ...all, hotState: false })
  expect(ownStores({ TOLLGATE_DATABASE_URL: 'postgres://x' })).toEqual({ ...all, postgres: false })
  expect(ownStores({ TOLLGATE_CLICKHOUSE_URL: 'http://x' })).toEqual({ ...all, clickhouse: false })
})
