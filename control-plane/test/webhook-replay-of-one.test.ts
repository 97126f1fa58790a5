import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { WebhookEndpointBody } from '@tollgate/schemas/http/webhook-endpoints'
import { startTestStack, type TestStack } from './test-stack.ts'

let stack: TestStack

beforeAll(async () => {
  stack = await startTestStack()
})
afterAll(() => stack.stop())

test('keeps a delivery of any age while it is resent', async () => {
  const { sandboxKey, providerId } = await stack.createTenant()
  const endpoint = { url: 'https://hooks.example.com' }
  const { body } = await stack.call<WebhookEndpointBody>(
    sandboxKey,
    'POST',
    '/v1/webhook_endpoints',
    endpoint,
  )
  const sql = stack.database.in('sandbox')
  await sql`
    insert into outbox (event_id, provider_id, type, livemode, object, created_at)
    values ('evt_old', ${providerId}, 'payment.failed', false, '{}', now())`
  await sql`
    insert into webhook_deliveries (provider_id, reference, endpoint_ref, event_id, event_type, state, due_at, created_at)
    values (${providerId}, 'dlv_old', ${body.id}, 'evt_old', 'payment.failed', 'succeeded', now(), now())`
  let replayed: ReturnType<TestStack['call']> | undefined
  await sql.begin(async (meanwhile) => {
    await meanwhile`select from outbox where event_id = 'evt_old' for update`
    replayed = stack.call(sandboxKey, 'POST', '/v1/ui/webhook-deliveries/dlv_old/replay')
    await vi.waitUntil(isLockAwaited, { timeout: 20_000 })
    // Select the row as the clean-up does when it looks for deliveries to delete.
    const free = await sql`
      select from webhook_deliveries where reference = 'dlv_old' for update skip locked`
    expect(free).toHaveLength(0)
  })
  expect(await replayed).toMatchObject({ status: 201 })
})

async function isLockAwaited(): Promise<boolean> {
  return (await stack.database.in('sandbox')`select from pg_locks where not granted`).length > 0
}
