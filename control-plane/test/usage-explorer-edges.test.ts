import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  startTestUsageStore,
  type TestUsageStore,
} from '@tollgate/platform/testing/embedded-servers'
import type { MeterBody } from '@tollgate/schemas/http/meters'
import type { UsageExplorerBody } from '@tollgate/schemas/http/usage-explorer'
import { createConsoleRollUps } from './roll-up-tables.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* Days of time zones with half hours, and groups of which the order is not known from daily sums. */

let usage: TestUsageStore
let stack: TestStack
let tenant: Tenant
let meterRef: string

beforeAll(async () => {
  usage = await startTestUsageStore()
  await createConsoleRollUps(usage.store)
  stack = await startTestStack({ usageStore: usage.store })
  tenant = await stack.createTenant()
  const body = {
    name: 'tokens',
    event: { type: 'ai.call' },
    value: '/tokens',
    dimensions: ['model'],
  }
  const { status, body: meter } = await stack.call<MeterBody>(
    tenant.sandboxKey,
    'POST',
    '/v1/ui/meters',
    body,
  )
  expect([status, meter]).toMatchObject([201, {}])
  meterRef = meter.reference
})
afterAll(async () => {
  await stack.stop()
  await usage.stop()
})
beforeEach(async () => {
  for (const name of ['records', 'by_purchase', 'by_dimension', 'by_meter', 'by_day']) {
    await usage.store.command(`TRUNCATE TABLE sandbox.usage_${name}`)
  }
})

const hourMs = 3_600_000
const first = Date.parse('2026-03-01T00:00:00Z')

async function storeUses(
  uses: readonly { readonly customer: string; readonly units: number; readonly atMs: number }[],
): Promise<void> {
  const lines = uses.map(({ customer, units, atMs }, index) =>
    JSON.stringify({
      ...{ id: `usage_${index}`, provider_id: tenant.providerId, meter_name: 'tokens' },
      ...{
        customer_ref: customer,
        value: units,
        outcome: 'success',
        dimensions: { model: 'small' },
      },
      timestamp: (atMs / 1_000).toFixed(3),
    }),
  )
  const into = 'INSERT INTO sandbox.usage_records FORMAT JSONEachRow'
  await usage.store.command(`${into} ${lines.join('\n')}`)
}

async function explore(query: string): Promise<UsageExplorerBody> {
  const path = `/v1/ui/usage/explore?meterRef=${meterRef}&${query}`
  const { status, body } = await stack.call<UsageExplorerBody>(tenant.sandboxKey, 'GET', path)
  expect([status, body]).toMatchObject([200, {}])
  return body
}

test.each(['', `&filter=${encodeURIComponent('{"model":["small"]}')}`])(
  'counts each hour in one day of a zone with half hours, with the fields "%s"',
  async (fields) => {
    const quarters = Array.from({ length: 4 * 24 * 4 }, (_, index) => index)
    await storeUses(
      quarters.map((index) => ({ customer: 'ada', units: 1, atMs: first + (index * hourMs) / 4 })),
    )
    const between = (from: string, to: string, more = '') =>
      explore(`from=${from}&to=${to}&timeZone=asia/kolkata${fields}${more}`)
    const one = await between('2026-03-02', '2026-03-03')
    const two = await between('2026-03-03', '2026-03-04')
    const both = await between('2026-03-02', '2026-03-04', '&granularity=day')
    const counts = [one, two].map(({ meters: [meter] }) => meter?.count)
    expect(counts).toEqual([96, 96])
    expect(both.timeZone).toBe('asia/kolkata')
    expect(both.meters[0]?.buckets?.map(({ count }) => count)).toEqual(counts)
  },
)

test('orders groups of which the bounds are too close by reading all of them', async () => {
  // Each customer uses most in an hour of the first day that the range leaves out.
  await storeUses(
    Array.from({ length: 150 }, (_, index) => [
      { customer: `c${index}`, units: 1_000 - index, atMs: first },
      { customer: `c${index}`, units: index + 1, atMs: first + 5 * hourMs },
    ]).flat(),
  )
  const range = 'from=2026-03-01T04:00:00Z&to=2026-03-03T02:00:00Z'
  const { meters } = await explore(`${range}&groupBy=customer&top=2`)
  expect(meters[0]?.groups?.map(({ key }) => key)).toEqual(['c149', 'c148'])
  expect(meters[0]?.other).toMatchObject({ count: 148, value: (148 * 149) / 2 })
})
