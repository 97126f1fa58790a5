import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { WebhookReplayBody } from '@tollgate/schemas/http/webhook-deliveries'
import type { WebhookEndpointBody } from '@tollgate/schemas/http/webhook-endpoints'
import { startTestStack, type TestStack } from './test-stack.ts'

const count = 100_000
const perStatement = 10_000

let stack: TestStack

beforeAll(async () => {
  stack = await startTestStack({
    settings: {
      TOLLGATE_WEBHOOK_REPLAY_INTERVAL_MS: '5',
      TOLLGATE_WEBHOOK_REPLAY_BATCH_MAX: '4000',
      TOLLGATE_WEBHOOK_REPLAY_WAITING_MAX: '1000000',
    },
  })
})
afterAll(() => stack.stop())

test('queues 100,000 deliveries once each while processes start and stop', async () => {
  const { sandboxKey, providerId } = await stack.createTenant()
  const call = async <Body>(method: string, path: string, body?: object): Promise<Body> =>
    (await stack.call<Body>(sandboxKey, method, path, body)).body
  const url = 'https://hooks.example.com'
  const { id: endpointId } = await call<WebhookEndpointBody>('POST', '/v1/webhook_endpoints', {
    url,
  })
  const sql = stack.database.in('sandbox')
  for (let from = 1; from <= count; from += perStatement) {
    await sql`
      with event as (
        insert into outbox (event_id, provider_id, type, livemode, object, created_at)
        select 'evt_' || number, ${providerId}, 'payment.failed', false, '{}', now() - interval '1 hour'
        from generate_series(${from}::int, ${from + perStatement - 1}::int) number
      )
      insert into webhook_deliveries (provider_id, reference, endpoint_ref, event_id, event_type, state, due_at, created_at)
      select ${providerId}, 'dlv_' || number, ${endpointId}, 'evt_' || number, 'payment.failed', 'succeeded', now(),
        now() - interval '1 hour'
      from generate_series(${from}::int, ${from + perStatement - 1}::int) number`
  }
  const begun = await call<WebhookReplayBody>('POST', '/v1/ui/webhook-replays', {
    endpointId,
    from: '2026-01-01T00:00:00Z',
  })
  // Helpers run one after another for a short time. The first service continues what a helper had started when it stopped.
  const progress = () => call<WebhookReplayBody>('GET', `/v1/ui/webhook-replays/${begun.id}`)
  for (let isRunning = true; isRunning;) {
    const helper = stack.createService()
    await helper.start()
    const { queued } = await progress()
    isRunning =
      (await vi.waitUntil(
        async () => {
          const now = await progress()
          return now.state === 'finished' ? 'no' : now.queued > queued + count / 5 && 'yes'
        },
        { timeout: 60_000, interval: 20 },
      )) === 'yes'
    await helper.stop()
  }
  expect(await progress()).toMatchObject({ state: 'finished', queued: count })
  const [made] = await sql<{ rows: number; events: number; references: number }[]>`
    select count(*)::int as rows, count(distinct event_id)::int as events, count(distinct reference)::int as references
    from webhook_deliveries where replay_ref = ${begun.id} and state = 'pending'`
  expect(made).toEqual({ rows: count, events: count, references: count })
  if (process.env['TOLLGATE_TEST_WEBHOOK_REPLAY_KILLS'] !== undefined) {
    console.log('replay of many', made)
  }
}, 180_000)
