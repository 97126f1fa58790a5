import { setTimeout as sleep } from 'node:timers/promises'
import { SeededRandom } from '@tollgate/platform/testing/seeded-random'
import type { WebhookReplayBody } from '@tollgate/schemas/http/webhook-deliveries'
import type { WebhookEndpointBody } from '@tollgate/schemas/http/webhook-endpoints'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { startKillableControlPlane, type KillableControlPlane } from './killable-control-plane.ts'
import { startTestStack, type TestStack } from './test-stack.ts'

/* Kills control planes (-9) one after another while they queue a replay. The next one continues where the last one died. */

const requested = process.env['TOLLGATE_TEST_WEBHOOK_REPLAY_KILLS']
const kills = Number(requested ?? 3)
const perLife = 4_000
const count = perLife * (kills + 1)

let stack: TestStack
let controlPlane: KillableControlPlane | undefined

beforeAll(async () => {
  // The stack's own control plane only reports the progress. With the long interval it queues nothing itself.
  stack = await startTestStack({ settings: { TOLLGATE_WEBHOOK_REPLAY_INTERVAL_MS: '3600000' } })
})
afterEach(() => controlPlane?.kill())
afterAll(() => stack.stop())

test('queues each delivery of a replay once, whichever process dies', async () => {
  const { sandboxKey, providerId } = await stack.createTenant()
  const call = async <Body>(method: string, path: string, body?: object): Promise<Body> =>
    (await stack.call<Body>(sandboxKey, method, path, body)).body
  const { id: endpointId } = await call<WebhookEndpointBody>('POST', '/v1/webhook_endpoints', {
    url: 'https://hooks.example.com',
  })
  const sql = stack.database.in('sandbox')
  await sql`
    with event as (
      insert into outbox (event_id, provider_id, type, livemode, object, created_at)
      select 'evt_' || number, ${providerId}, 'payment.failed', false, '{}', now() - interval '1 hour'
      from generate_series(1, ${count}::int) number
    )
    insert into webhook_deliveries (provider_id, reference, endpoint_ref, event_id, event_type, state, due_at, created_at)
    select ${providerId}, 'dlv_' || number, ${endpointId}, 'evt_' || number, 'payment.failed', 'succeeded', now(),
      now() - interval '1 hour'
    from generate_series(1, ${count}::int) number`
  const { id: replayId } = await call<WebhookReplayBody>('POST', '/v1/ui/webhook-replays', {
    endpointId,
    from: '2026-01-01T00:00:00Z',
  })
  const progress = () => call<WebhookReplayBody>('GET', `/v1/ui/webhook-replays/${replayId}`)
  const random = new SeededRandom(20_260_402)
  const start = () =>
    startKillableControlPlane(stack, {
      TOLLGATE_WEBHOOK_REPLAY_INTERVAL_MS: '5',
      TOLLGATE_WEBHOOK_REPLAY_BATCH_MAX: '100',
      TOLLGATE_WEBHOOK_REPLAY_WAITING_MAX: '1000000',
    })
  let diedInTheMiddle = 0
  for (let kill = 0; kill < kills; kill += 1) {
    const before = (await progress()).queued
    controlPlane = await start()
    await vi.waitUntil(async () => (await progress()).queued > before, waiting)
    await sleep(random.below(60))
    await controlPlane.kill()
    if ((await progress()).state === 'running') diedInTheMiddle += 1
  }
  expect(diedInTheMiddle).toBeGreaterThan(0)
  controlPlane = await start()
  await vi.waitUntil(async () => (await progress()).state === 'finished', {
    ...waiting,
    timeout: waiting.timeout + 4 * count,
  })
  expect(await progress()).toMatchObject({ queued: count })
  const [made] = await sql<{ rows: number; events: number; references: number }[]>`
    select count(*)::int as rows, count(distinct event_id)::int as events, count(distinct reference)::int as references
    from webhook_deliveries where replay_ref = ${replayId} and state = 'pending'`
  expect(made).toEqual({ rows: count, events: count, references: count })
  if (requested !== undefined) console.log('killed replays', { kills, diedInTheMiddle, count })
}, 900_000)

const waiting = { timeout: 60_000, interval: 5 }
