import { setTimeout as sleep } from 'node:timers/promises'
import { SeededRandom } from '@tollgate/platform/testing/seeded-random'
import type { WebhookEndpointBody } from '@tollgate/schemas/http/webhook-endpoints'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startKillableControlPlane } from './killable-control-plane.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'
import { changeUntilServerStops, repeatGrant, type Caller } from './writing-caller.ts'

/*
 * Kills control planes (-9) at any moment during many concurrent changes. Every committed change must have its event and
 * deliveries, and no event may exist without a change.
 */

const requested = process.env['TOLLGATE_TEST_WEBHOOK_WRITER_KILLS']
const kills = Number(requested ?? 6)

/** Number of concurrent control planes, and of callers of each: as many as the test's PostgreSQL has connections for. */
const lanes = 3
const callersPerLife = 5

let stack: TestStack

beforeAll(async () => {
  stack = await startTestStack()
})
afterAll(() => stack.stop())

/** Endpoints, with their event types and the state of their deliveries. */
const receivers = [
  { types: [], state: 'pending' },
  { types: ['customer.created', 'product.updated'], state: 'pending' },
  { types: ['customer.updated', 'customer.credit.granted'], state: 'held' },
  { types: ['payment.failed'], state: 'pending' },
] as const

type Receiver = { readonly id: string } & (typeof receivers)[number]

async function addReceivers({ sandboxKey }: Tenant): Promise<Receiver[]> {
  const added: Receiver[] = []
  for (const receiver of receivers) {
    const path = '/v1/webhook_endpoints'
    const fields = { url: 'https://hooks.example.com', enabledEvents: receiver.types }
    const { body } = await stack.call<WebhookEndpointBody>(sandboxKey, 'POST', path, fields)
    if (receiver.state === 'held') {
      await stack.call(sandboxKey, 'PATCH', `${path}/${body.id}`, { status: 'disabled' })
    }
    added.push({ ...receiver, id: body.id })
  }
  return added
}

/**
 * Runs a control plane that is killed `momentMs` milliseconds after it answered `answersMin` requests, while others are in
 * progress.
 */
async function changeUntilKilled(
  key: string,
  answersMin: number,
  momentMs: number,
): Promise<readonly Caller[]> {
  const controlPlane = await startKillableControlPlane(stack)
  let enough = (): void => undefined
  const isEnough = new Promise<void>((resolve) => (enough = resolve))
  const callers = Array.from({ length: callersPerLife }, (_, name): Caller => ({
    name,
    answered: 0,
    lastGrant: undefined,
  }))
  const calling = callers.map((caller) =>
    changeUntilServerStops(controlPlane.url, key, caller, () => {
      if (sumOf(callers) >= answersMin) enough()
    }),
  )
  try {
    // A caller returns before the kill only if it is refused, which fails the test.
    await Promise.race([isEnough, ...calling])
    await sleep(momentMs)
  } finally {
    await controlPlane.kill()
  }
  await Promise.all(calling)
  return callers
}

const sumOf = (callers: readonly Caller[]): number =>
  callers.reduce((sum, { answered }) => sum + answered, 0)

type Stored = {
  /** Changes in the audit log and the ledger, which do not depend on events. */
  readonly changes: readonly string[]
  readonly events: readonly { readonly id: string; readonly tells: string; readonly type: string }[]
  readonly deliveries: readonly string[]
}

/** Reads everything in one snapshot, because a statement of a dead process may still be running. */
function readStored(providerId: string): Promise<Stored> {
  return stack.database
    .in('sandbox')
    .begin('isolation level repeatable read read only', async (sql) => {
      const changes = await sql<{ change: string }[]>`
        select rtrim(kind, 's') || case action when 'insert' then '.created ' else '.updated ' end || reference as change
        from audit_log
        where provider_id = ${providerId} and environment = 'sandbox' and kind in ('customers', 'products')
        union all
        select 'customer.credit.granted ' || customer_ref from ledger_transactions
        where provider_id = ${providerId} and kind = 'grant'`
      const events = await sql<{ id: string; type: string; tells: string }[]>`
        select event_id as id, type, type || ' ' || coalesce(object->>'customerId', object->>'id') as tells
        from outbox where provider_id = ${providerId}`
      const deliveries = await sql<{ delivery: string }[]>`
        select concat_ws(' ', event_id, endpoint_ref, state) as delivery from webhook_deliveries
        where provider_id = ${providerId}`
      return {
        changes: changes.map(({ change }) => change).toSorted(),
        events,
        deliveries: deliveries.map(({ delivery }) => delivery).toSorted(),
      }
    })
}

/**
 * Expects one event for each change, and one delivery of each event to every endpoint that receives its type. Returns the stored
 * rows.
 */
async function expectWhole(tenant: Tenant, added: readonly Receiver[]): Promise<Stored> {
  const stored = await readStored(tenant.providerId)
  expect(stored.events.map(({ tells }) => tells).toSorted()).toEqual(stored.changes)
  const expected = stored.events.flatMap(({ id, type }) =>
    added
      .filter(({ types }) => types.length === 0 || (types as readonly string[]).includes(type))
      .map((receiver) => `${id} ${receiver.id} ${receiver.state}`),
  )
  expect(stored.deliveries).toEqual(expected.toSorted())
  // No change occurs twice for the same object.
  expect(new Set(stored.changes).size).toBe(stored.changes.length)
  return stored
}

const random = new SeededRandom(20_260_401)

test('stores each change with its event and deliveries, wherever a control plane dies', async () => {
  let left = kills
  const seen = { kills, answered: 0, unanswered: 0, repeated: 0, changes: 0, deliveries: 0 }
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      const tenant = await stack.createTenant()
      const added = await addReceivers(tenant)
      const callers = await changeUntilKilled(
        tenant.sandboxKey,
        1 + random.below(60),
        random.below(20),
      )
      const answered = sumOf(callers)
      const { changes } = await expectWhole(tenant, added)
      // Every answered change is stored. Of the changes in progress, each caller had one.
      expect(changes.length).toBeGreaterThanOrEqual(answered)
      expect(changes.length).toBeLessThanOrEqual(answered + callersPerLife)
      const repeated = callers.filter(({ lastGrant }) => lastGrant !== undefined)
      for (const { lastGrant } of repeated) {
        await repeatGrant(stack.baseUrl, tenant.sandboxKey, lastGrant!)
      }
      const whole = await expectWhole(tenant, added)
      const granted = new Set(whole.changes)
      for (const { lastGrant } of repeated) {
        expect(granted).toContain(`customer.credit.granted ${lastGrant!.customer}`)
      }
      seen.answered += answered
      seen.unanswered += changes.length - answered
      seen.repeated += repeated.length
      seen.changes += whole.changes.length
      seen.deliveries += whole.deliveries.length
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  expect(seen.repeated).toBeGreaterThan(0)
  if (requested !== undefined) console.log('killed writers', seen)
}, 1_800_000)
