import { afterAll, beforeAll, expect, test } from 'vitest'
import { createMetrics } from '@tollgate/platform/observability/metrics'
import type { MeterBody } from '@tollgate/schemas/http/meters'
import { buildTestApp, unreachableStores } from './built-app.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

let stack: TestStack
let tenant: Tenant

beforeAll(async () => {
  stack = await startTestStack()
  tenant = await stack.createTenant()
})
afterAll(() => stack.stop())

const unavailable = {
  statusCode: 503,
  error: 'Service Unavailable',
  message: 'A part of the service is not available. Retry in a moment',
}

test('refuses only usage queries without ClickHouse', async () => {
  const path = '/v1/ui/meters'
  const { body } = await stack.call<{ meters: MeterBody[] }>(tenant.sandboxKey, 'GET', path)
  const usage = `${path}/${body.meters[0]?.reference}/usage?from=2026-01-01&to=2026-02-01`
  const answer = await stack.call(tenant.sandboxKey, 'GET', usage)
  expect([answer.status, answer.body]).toMatchObject([503, unavailable])
  expect(answer.headers.get('retry-after')).toBe('1')
})

test('refuses every request without PostgreSQL, and reports it as unready', async () => {
  const { database, usageStore } = unreachableStores()
  const metrics = createMetrics('control-plane')
  const app = await buildTestApp(stack, { database, usageStore, metrics })
  const headers = { authorization: `Bearer ${tenant.sandboxKey}` }
  const answer = await app.inject({ method: 'GET', url: '/v1/sdk/products', headers })
  expect([answer.statusCode, answer.json()]).toMatchObject([503, unavailable])
  await app.inject({ method: 'GET', url: '/v1/no/such/path' })
  const counts = [
    ...(await metrics.metrics()).matchAll(
      /_request_seconds_count\{service="control-plane",(.+)\} (\d+)/g,
    ),
  ]
  expect(counts.map(([, labels, count]) => [labels, count])).toEqual([
    ['method="GET",route="/v1/sdk/products",status="503"', '1'],
    ['method="GET",route="unknown",status="404"', '1'],
  ])
  await app.close()
  await usageStore.close()
  await database.close()
})
