import { afterAll, beforeAll, expect, test } from 'vitest'
import { countBatch } from '@tollgate/domain/calendar/runs'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

let stack: TestStack
let tenant: Tenant
let other: Tenant

beforeAll(async () => {
  stack = await startTestStack()
  tenant = await stack.createTenant()
  other = await stack.createTenant()
  const first = new Date('2026-03-01T10:00:00Z')
  const second = new Date('2026-03-02T10:00:00Z')
  const counts = { done: 3, postponed: 1, failed: 0, failure: null }
  const own = { ...counts, providerId: tenant.providerId }
  const pool = stack.database.in('sandbox')
  const count = (job: string, at: Date, ...batch: Parameters<typeof countBatch>[4][number][]) =>
    countBatch(pool, { job, at, isByHand: false }, at, new Date(at.getTime() + 2_000), batch)
  await count('renewals', first, own, { ...counts, providerId: other.providerId })
  await count('renewals', first, { ...own, done: 2, postponed: 0, failed: 1, failure: 'lost' })
  await count('reminders', second, own)
})
afterAll(() => stack.stop())

type Runs = { readonly runs: readonly object[]; readonly total: number }
const listRuns = async (key: string, query = '') =>
  (await stack.call<Runs>(key, 'GET', `/v1/ui/billing/runs${query}`)).body

test("lists the runs of a provider's jobs, newest first", async () => {
  const renewals = {
    job: 'renewals',
    slot: '2026-03-01T10:00:00.000Z',
    startedAt: '2026-03-01T10:00:00.000Z',
    endedAt: '2026-03-01T10:00:02.000Z',
    counts: { done: 5, postponed: 1, failed: 1 },
    failure: 'lost',
  }
  const { runs, total } = await listRuns(tenant.sandboxKey)
  expect(total).toBe(2)
  expect(runs).toEqual([
    {
      job: 'reminders',
      slot: '2026-03-02T10:00:00.000Z',
      startedAt: '2026-03-02T10:00:00.000Z',
      endedAt: '2026-03-02T10:00:02.000Z',
      counts: { done: 3, postponed: 1, failed: 0 },
    },
    renewals,
  ])
  expect(await listRuns(tenant.sandboxKey, '?job=renewals')).toMatchObject({
    runs: [renewals],
    total: 1,
  })
  expect(await listRuns(tenant.sandboxKey, '?limit=1&offset=1')).toMatchObject({
    runs: [renewals],
    total: 2,
  })
})

test('hides runs from other providers', async () => {
  expect((await listRuns(other.sandboxKey)).total).toBe(1)
  expect((await listRuns(tenant.liveKey)).total).toBe(0)
})
