import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createUsageEventJob } from '@tollgate/control-plane/jobs/emit-usage-events'
import { UsageLag } from '@tollgate/control-plane/jobs/usage-lag'
import { listOutboxEvents } from '@tollgate/domain/outbox/repository'
import { SeededRandom } from '@tollgate/platform/testing/seeded-random'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { eventDefinitions } from '@tollgate/schemas/event-types'
import { usageTopic } from '@tollgate/schemas/topics'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { Shop } from '../../../billing-runner/test/runner-stack.ts'
import { databaseOf, CrashingProcess } from '../money/crashing-process.ts'
import { startUsageBillingStack } from '../usage-billing/usage-billing-stack.ts'

/* `usage.recorded` for usage that was recorded in the log and stored: one event per record, even if processes are killed. */

const program = fileURLToPath(
  new URL('../../../control-plane/dist/bundled/main.js', import.meta.url),
)
const at = new Date('2026-03-01T10:00:00Z')

let shop: Shop
let endpoints = 0

const stack = await startUsageBillingStack()
stack.runner.clock.set(at.toISOString())
afterAll(() => stack.stop())
beforeEach(async () => {
  shop = await stack.runner.openShop()
  return async () => {
    await stack.runner.database.in('sandbox')`delete from webhook_endpoints`
  }
})

async function addEndpoint(types: readonly string[] = []): Promise<void> {
  endpoints += 1
  await stack.runner.database.in('sandbox')`
    insert into webhook_endpoints
      (provider_id, reference, url, enabled_events, created_at, updated_at)
    values (${shop.providerId}, ${`we_${endpoints}`}, 'https://example.com', ${types}, ${at}, ${at})`
}

type Usage = { readonly customerRef?: string; readonly key?: string }

const record = (usages: readonly Usage[], of = shop) =>
  stack.record(
    of,
    usages.map(({ customerRef = 'user-1', key }) => {
      return { customerRef, micros: 1_500_000n, at, ...(key && { idempotencyKey: key }) }
    }),
  )

async function untilStored(): Promise<void> {
  const { eventLog } = stack.runner.parts
  const topic = usageTopic('sandbox')
  for (let partition = 0; partition < eventLog.partitionCount(topic); partition++) {
    const head = await eventLog.head(topic, partition)
    const stored = async () => (await eventLog.position(sinkGroup, topic, partition)).offset
    await expect.poll(stored, { timeout: 60_000 }).toBe(head)
  }
}

/** Runs one round in a process that may die. */
async function emitUsageEvents(
  life = new CrashingProcess(),
  lag = new UsageLag(() => 0),
): Promise<void> {
  const { parts, database, hotState } = stack.runner
  const mortal = databaseOf(life, database)
  const publisher = {
    database: mortal,
    hotState,
    partitionCount: () => parts.eventLog.partitionCount(usageTopic('sandbox')),
    now: () => at,
  }
  const telling = createUsageEventJob({ ...parts, publisher, lag }, 3_600_000)
  await telling.start()
  await telling.stop()
}

async function usageEvents(of = shop) {
  const events = await listOutboxEvents(stack.runner.database.in('sandbox'), of.providerId, 100_000)
  return events.filter(({ type }) => type === 'usage.recorded')
}

describe('stored usage', () => {
  test('is reported from the first endpoint on that subscribes to it, without duplicates', async () => {
    await record([{ key: 'before' }, {}])
    await untilStored()
    await emitUsageEvents()
    await addEndpoint(['customer.created'])
    await record([{ key: 'not asked for' }])
    await untilStored()
    await emitUsageEvents()
    await addEndpoint(['usage.recorded'])
    await record([{ key: 'a' }, { key: 'before' }, { key: 'a' }, {}])
    await untilStored()
    await emitUsageEvents()
    await emitUsageEvents()
    const events = await usageEvents()
    expect(events).toHaveLength(2)
    for (const { object } of events) {
      expect(eventDefinitions['usage.recorded'].object.parse(object)).toEqual(object)
    }
    const keyed = events.find(({ idempotencyKey }) => idempotencyKey === 'a')
    expect(keyed).toMatchObject({
      livemode: false,
      requestId: null,
      previousAttributes: null,
      object: {
        customer: 'user-1',
        product: shop.product.reference,
        purchase: null,
        quantity: 1.5,
        meterName: 'requests',
        recordedAt: at.getTime() / 1000,
      },
    })
  })

  test('names customer and purchase by their references', async () => {
    await emitUsageEvents()
    await addEndpoint()
    const plan = await stack.runner.addPlan(shop, { price: 0, billingCycle: 'monthly' })
    const { customerRef, reference } = await stack.runner.buy(shop, plan)
    await record([{ customerRef }])
    await untilStored()
    await emitUsageEvents()
    expect((await usageEvents()).map(({ object }) => object)).toMatchObject([
      { customer: customerRef, purchase: reference },
    ])
  })

  test('is not reported for a provider without an endpoint', async () => {
    await addEndpoint()
    const other = await stack.runner.openShop()
    await record([{}], other)
    await record([{}])
    await untilStored()
    await emitUsageEvents()
    expect(await usageEvents(other)).toEqual([])
    expect(await usageEvents()).toHaveLength(1)
  })

  test('is reported once if the sink repeats it from an earlier position', async () => {
    await emitUsageEvents()
    await addEndpoint()
    await record([{ key: 'a' }, {}, {}])
    await untilStored()
    await emitUsageEvents()
    const before = await usageEvents()
    await stack.runner.database.in('sandbox')`update usage_event_positions set next_offset = 0`
    await emitUsageEvents()
    expect(before).toHaveLength(3)
    expect(await usageEvents()).toEqual(before)
  })
})

test('exports the lag of usage events, with and without subscribed endpoints', async () => {
  let nowMs = 0
  const lag = new UsageLag(() => nowMs)
  const behindAfterRound = async (life?: CrashingProcess): Promise<number> => {
    nowMs += 1_000
    await emitUsageEvents(life, lag)
    return lag.seconds('sandbox')
  }
  expect(await behindAfterRound()).toBe(1)
  expect(await behindAfterRound()).toBe(1)
  await addEndpoint()
  await record([{}])
  await untilStored()
  await behindAfterRound()
  for (let dead = 1; dead <= 20; dead += 1) {
    await behindAfterRound(new CrashingProcess({ atStep: 1, sendsPendingCall: false }))
  }
  expect(lag.seconds('sandbox')).toBe(21)
  await behindAfterRound()
  expect(await behindAfterRound()).toBe(1)
  expect(await usageEvents()).toHaveLength(1)
})

/** Returns the event ids of the deliveries, one for each event. */
async function deliveredIds(): Promise<string[]> {
  const rows = await stack.runner.database.in('sandbox')<{ event_id: string }[]>`
    select event_id from webhook_deliveries
    where provider_id = ${shop.providerId} and event_type = 'usage.recorded'`
  return rows.map((row) => row.event_id).sort()
}

test('reports each record once, at whichever effect the process dies', async () => {
  await emitUsageEvents()
  await addEndpoint()
  const random = new SeededRandom(20_260_301)
  const keys = new Set<string>()
  let unkeyed = 0
  for (let round = 0; round < 40; round++) {
    const usages = Array.from({ length: random.below(6) }, (): Usage => {
      const customerRef = `user-${random.below(4)}`
      if (random.below(3) === 0) return { customerRef }
      return { customerRef, key: `k${random.below(40)}` }
    })
    await record(usages)
    for (const { customerRef, key } of usages) {
      if (key === undefined) unkeyed += 1
      else keys.add(`${customerRef} ${key}`)
    }
    const lives = [1 + random.below(8), 1 + random.below(16)].map(
      (atStep) => new CrashingProcess({ atStep, sendsPendingCall: false }),
    )
    await Promise.all(lives.slice(random.below(2)).map((life) => emitUsageEvents(life)))
  }
  await untilStored()
  await emitUsageEvents()
  const events = await usageEvents()
  const ids = events.map(({ eventId }) => eventId)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids).toHaveLength(keys.size + unkeyed)
  const keyed = events.filter(({ idempotencyKey }) => idempotencyKey !== null)
  const used = keyed.map((event) => `${String(event.object['customer'])} ${event.idempotencyKey}`)
  expect(used.toSorted()).toEqual([...keys].toSorted())
  expect(await deliveredIds()).toEqual(ids.toSorted())
})

const kills = Number(process.env['TOLLGATE_TEST_USAGE_EVENT_KILLS'] ?? 2)

test('reports each record once while control planes are killed', { timeout: 300_000 }, async () => {
  await emitUsageEvents()
  await addEndpoint()
  const random = new SeededRandom(20_260_302)
  let recorded = 0
  for (let kill = 0; kill < kills; kill++) {
    const child = fork(program, [], {
      // The Node options of a Vitest worker are not inherited, because they resolve packages to their sources.
      execArgv: [],
      env: {
        ...stack.environment({ TOLLGATE_CONTROL_PLANE_PORT: '0' }),
        PATH: process.env['PATH'],
        TOLLGATE_LOG_LEVEL: 'error',
        TOLLGATE_USAGE_EVENTS_INTERVAL_MS: '1',
      },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const gone = once(child, 'exit')
    const [first] = (await Promise.race([once(child, 'message'), gone])) as [unknown]
    expect(first, 'the service ended before it served').toEqual(expect.any(Object))
    // The process is killed while it emits events, and records are added until then.
    const lives = { untilMs: performance.now() + 200 + random.below(400) }
    while (performance.now() < lives.untilMs) {
      await record(Array.from({ length: 20 }, () => ({})))
      recorded += 20
      await sleep(1)
    }
    child.kill('SIGKILL')
    await gone
  }
  const before = (await usageEvents()).length
  await untilStored()
  await emitUsageEvents()
  const ids = (await usageEvents()).map(({ eventId }) => eventId)
  expect(before).toBeGreaterThan(0)
  expect(ids).toHaveLength(recorded)
  expect(new Set(ids).size).toBe(recorded)
  expect(await deliveredIds()).toEqual(ids.toSorted())
})
