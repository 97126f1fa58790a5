import { afterAll, beforeAll, expect, test } from 'vitest'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { LimitsResponse } from '@tollgate/schemas/http/limits'
import type { ProductBody } from '@tollgate/schemas/http/products'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

const start = '2026-03-10T12:00:00Z'
const later = '2026-03-10T18:00:00Z'

let stack: TestStack
let tenant: Tenant

beforeAll(async () => {
  stack = await startTestStack({ wrapHotState: sweepAfterEachCall })
  tenant = await stack.createTenant()
})
afterAll(() => stack.stop())

/** Wraps the real hot state. After each write of entries, the sweep of another process runs, at the worst possible moment. */
function sweepAfterEachCall(hotState: HotState): HotState {
  return new Proxy(hotState, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (name !== 'putEntries') {
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      }
      return async (...given: Parameters<HotState['putEntries']>) => {
        await target.putEntries(...given)
        await sweep(target, given[1])
      }
    },
  })
}

async function sweep(hotState: HotState, partition: number): Promise<void> {
  const second = Date.parse(later) / 1000
  await hotState.sweep('sandbox', partition, {
    marksReceivedBeforeMs: 0,
    reservationsExpiredBeforeMs: 0,
    windowsEndedBeforeSecond: 0,
    slotsBeforeSecond: second - 31 * 86_400,
    knownSubjectSlotsBeforeSecond: second - 600,
    keysMax: 100,
  })
}

async function call<Body>(path: string, body: unknown): Promise<Body> {
  return (await stack.call<Body>(tenant.sandboxKey, 'POST', path, body)).body
}

test('counts usage of an external reference from before the link, also while slots are swept', async () => {
  stack.clock.set(start)
  const { reference: productRef } = await call<ProductBody>('/v1/sdk/products', { name: 'API' })
  const plan = { name: 'Plan', default: true, limit: 10 }
  await call(`/v1/sdk/products/${productRef}/plans`, plan)
  const email = 'ada@example.com'
  const customer = await call<{ reference: string }>('/v1/sdk/customers', { email })
  const check = () =>
    call<LimitsResponse>('/v1/sdk/limits', { customerRef: customer.reference, productRef })
  expect((await check()).remaining).toBe(10)

  const { providerId } = tenant
  const at = '2026-03-10T13:00:00Z'
  await stack.countUsage({ providerId, customerRef: 'ada', productRef, units: 4, at })
  stack.clock.set(later)
  const partitionCount = stack.eventLog.partitionCount(usageTopic('sandbox'))
  await sweep(stack.hotState, partitionOf(subjectKey(providerId, 'ada'), partitionCount))
  await call('/v1/sdk/customers', { email, externalRef: 'ada' })
  expect((await check()).remaining).toBe(6)
})
