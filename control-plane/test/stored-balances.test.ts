import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClickHouseUsageStore } from '@tollgate/platform/usage-store/clickhouse/clickhouse-usage-store'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* Balances while the hot state is unavailable and ClickHouse hangs. */

const readsMax = 2

let clickHouse: Server
let usageStore: UsageStore
let stack: TestStack
let tenant: Tenant
/** Queries that wait for their response. */
const waiting: ServerResponse[] = []

beforeAll(async () => {
  clickHouse = createServer((_, response) => void waiting.push(response))
  await new Promise<void>((resolve) => clickHouse.listen(0, '127.0.0.1', resolve))
  const { port } = clickHouse.address() as AddressInfo
  usageStore = createClickHouseUsageStore({
    url: `http://127.0.0.1:${port}`,
    username: 'default',
    password: '',
    requestTimeoutMs: 60_000,
  })
  stack = await startTestStack({
    usageStore,
    settings: { TOLLGATE_STORED_USAGE_CHECKS_MAX: String(readsMax) },
    wrapHotState: withoutWallets,
  })
  tenant = await stack.createTenant()
})
afterAll(async () => {
  for (const response of waiting) response.destroy()
  await stack.stop()
  await usageStore.close()
  await new Promise((resolve) => clickHouse.close(resolve))
})

function withoutWallets(hotState: HotState): HotState {
  return new Proxy(hotState, {
    get(target, property: keyof HotState) {
      if (property === 'readTaken') return () => Promise.reject(new Error('away'))
      const value: unknown = Reflect.get(target, property)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

test('reads a limited number of balances from ClickHouse at a time, and refuses more', async () => {
  const { sandboxKey: key } = tenant
  const customer = { email: 'a@example.com' }
  const made = await stack.call<CustomerBody>(key, 'POST', '/v1/sdk/customers', customer)
  const path = `/v1/sdk/customers/${made.body.reference}/balance`
  const read = async (): Promise<number> => (await stack.call(key, 'GET', path)).status
  const held = Array.from({ length: readsMax }, read)
  await expect.poll(() => waiting.length, { timeout: 20_000 }).toBe(readsMax)
  expect(await read()).toBe(503)
  expect(waiting).toHaveLength(readsMax)
  for (const response of waiting.splice(0)) response.writeHead(500).end()
  expect(await Promise.all(held)).toEqual([503, 503])

  const again = read()
  await expect.poll(() => waiting.length, { timeout: 20_000 }).toBe(1)
  for (const response of waiting.splice(0)) response.writeHead(500).end()
  expect(await again).toBe(503)
})
