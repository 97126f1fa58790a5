import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Database } from '@tollgate/platform/database/database'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import { createLogger } from '@tollgate/platform/observability/logger'
import { skipHeldDeliveries } from '@tollgate/domain/webhooks/deliveries-repository'
import { Dispatcher, type DispatchParts } from '../src/deliver/dispatcher.ts'
import { Recorder } from '../src/deliver/recorder.ts'
import { claimDeliveries, type Claimed } from '../src/postgres/claim-deliveries.ts'
import { deleteOldDeliveries } from '../src/postgres/clean-up.ts'
import { recordOutcomes, type Outcome } from '../src/postgres/record-outcomes.ts'
import { applyEndpointStatus } from '../src/postgres/apply-endpoint-status.ts'
import { startDispatcherStack, until, type DispatcherStack } from './dispatcher-stack.ts'
import { firstAttempt, firstClaim } from './first-claim.ts'

/*
 * Tests two transactions on the same rows. A second connection holds the lock that the first needs until PostgreSQL reports a
 * blocked statement, so no race depends on timing.
 */

let stack: DispatcherStack
let owner: Database

beforeAll(async () => {
  stack = await startDispatcherStack()
  owner = createPostgresDatabase({ url: stack.databaseUrl, isOwner: true, poolMax: 8 })
  await stack.insertEndpoint(endpointA)
})

afterEach(async () => {
  await stack.reset()
  await stack.insertEndpoint(endpointA)
})

afterAll(async () => {
  await owner.close()
  await stack.close()
})

const endpointA = { providerId: 'prov', reference: 'we_A', url: 'https://example.com' }

const pool = () => owner.in('sandbox')

const now = new Date()

const firstAttempts = firstClaim(now)

const referenceOf = (eventId: string) => `dlv_${eventId.slice(4)}A`

const outcomeOf = (eventId: string, state: Outcome['state'] = 'succeeded'): Outcome => ({
  providerId: 'prov',
  deliveryRef: referenceOf(eventId),
  claim: 1,
  state,
  dueAt: state === 'pending' ? new Date(now.getTime() + 300_000) : null,
  endedAt: now,
  attempts: [firstAttempt(now, state === 'succeeded' ? 200 : 500)],
})

/** Parts of a dispatcher that sends nothing and sees every attempt succeed. */
const idleParts: Omit<DispatchParts, 'claim'> = {
  send: async () => ({
    attempts: [firstAttempt(now, 200)],
    status: 200,
    retryAfter: undefined,
    hasTimedOut: false,
    secretToPromote: undefined,
  }),
  promote: async () => {},
  recorder: new Recorder({
    record: (outcomes, health) => recordOutcomes(pool(), outcomes, health, now),
    onRecorded: () => {},
    onRefused: () => {},
    logger: createLogger('locks', 'silent'),
    retryPauseMs: 100,
  }),
  onAttempted: () => {},
  now: () => new Date(),
  random: () => 0,
  logger: createLogger('locks', 'silent'),
  limits: {
    claimDeliveriesMax: 20,
    inFlightMax: 8,
    firstAttemptsReserved: 4,
    perEndpointMax: 4,
    leaseMs: 60_000,
    pollMs: 30_000,
    retryPauseMs: 100,
    retrySchedule: { delaysSeconds: [300], jitterPercent: 0 },
  },
}

const failing = {
  endpointRef: 'we_A',
  hasSucceeded: false,
  failures: 1,
  failingSince: now,
  exhaustedSince: null,
  isGone: false,
}

async function statesOf(...eventIds: string[]): Promise<string[]> {
  const rows = await pool()<{ event_id: string; state: string }[]>`
    select event_id, state from webhook_deliveries`
  return eventIds.map((eventId) => rows.find((row) => row.event_id === eventId)!.state)
}

async function isStatementBlocked(): Promise<boolean> {
  const [row] = await pool()<{ waiting: boolean }[]>`
    select exists (select from pg_locks where not granted) as waiting`
  return row!.waiting
}

/** Runs `work` until it is blocked by a lock on the row, then `meanwhile`, then releases the lock. */
async function whileHeld<Result>(
  held: { readonly table: string; readonly reference: string },
  work: () => Promise<Result>,
  meanwhile: () => Promise<void>,
): Promise<Result> {
  let working: Promise<Result> | undefined
  await pool().begin(async (sql) => {
    await sql`select from ${sql(held.table)} where reference = ${held.reference} for update`
    working = work()
    await until(isStatementBlocked)
    await meanwhile()
  })
  return working!
}

/** Returns whether the delivery is not locked. */
async function isFree(eventId: string): Promise<boolean> {
  const rows = await pool()`
    select from webhook_deliveries where reference = ${referenceOf(eventId)} for update skip locked`
  return rows.length === 1
}

test('keeps a delivery as sent if its endpoint is disabled while its outcome is stored', async () => {
  const [eventId] = await stack.emit('prov', ['cus_1'])
  await claimDeliveries(pool(), firstAttempts)
  await pool()`
    update webhook_endpoints set status = 'disabled', disabled_reason = 'provider', disabled_at = now()`
  let settling: Promise<number> | undefined
  await pool().begin(async (sql) => {
    await sql`
      update webhook_deliveries set state = 'succeeded', attempts = 1, leased_until = null, finished_at = now()`
    settling = applyEndpointStatus(pool(), now)
    await until(isStatementBlocked)
  })
  expect(await settling).toBe(0)
  expect(await statesOf(eventId!)).toEqual(['succeeded'])
})

test.each([
  ['the sync of endpoint status', () => applyEndpointStatus(pool(), now)],
  [
    'recording outcomes',
    (older: string, newer: string) =>
      recordOutcomes(pool(), [outcomeOf(newer), outcomeOf(older)], [], now),
  ],
  [
    'skipping held deliveries',
    () => skipHeldDeliveries(pool(), endpointA, new Date(Date.now() + 1_000), now),
  ],
] as const)('locks deliveries in ascending order in %s', async (_, lockAll) => {
  const [older, newer] = await stack.emit('prov', ['cus_1', 'cus_2'])
  await claimDeliveries(pool(), firstAttempts)
  // The older delivery is a retry of a later event, so indexes return it after the newer one.
  await pool()`
    update webhook_deliveries set attempts = 1, created_at = created_at + interval '1 ms' where event_id = ${older!}`
  if (lockAll.length === 0) {
    await pool()`update webhook_deliveries set leased_until = null`
    await pool()`
      update webhook_endpoints set status = 'disabled', disabled_reason = 'provider', disabled_at = now()`
  }
  const held = { table: 'webhook_deliveries', reference: referenceOf(older!) }
  await whileHeld(
    held,
    async () => void (await lockAll(older!, newer!)),
    async () => expect(await isFree(newer!)).toBe(true),
  )
  expect(await statesOf(older!, newer!)).not.toContain('pending')
})

test('locks an endpoint before its deliveries', async () => {
  const [eventId] = await stack.emit('prov', ['cus_1'])
  await claimDeliveries(pool(), firstAttempts)
  await whileHeld(
    { table: 'webhook_endpoints', reference: 'we_A' },
    () => recordOutcomes(pool(), [outcomeOf(eventId!, 'pending')], [failing], now),
    async () => expect(await isFree(eventId!)).toBe(true),
  )
  const [row] = await pool()<{ attempts: number }[]>`select attempts from webhook_deliveries`
  expect(row).toEqual({ attempts: 1 })
})

test('does not claim a delivery whose outcome was stored while the claim was running', async () => {
  const [eventId] = await stack.emit('prov', ['cus_1'])
  const late = await claimWhile(async () => {
    expect((await claimDeliveries(pool(), firstAttempts)).deliveries.length).toBe(1)
    await recordOutcomes(pool(), [outcomeOf(eventId!, 'pending')], [failing], now)
  })
  expect(late).toMatchObject({ found: 1, deliveries: [] })
  const [row] = await pool()`select claim, attempts, leased_until from webhook_deliveries`
  expect(row).toEqual({ claim: 1, attempts: 1, leased_until: null })
})

async function claimSlowly(): Promise<Claimed> {
  const claimed = await pool().begin(async (sql) => {
    await sql`set local search_path = slow, sandbox`
    return [await claimDeliveries(sql, firstAttempts)]
  })
  return claimed[0]!
}

/** Runs a claim whose statement has taken its snapshot and then waits, through a view of the endpoints, until `meanwhile` ends. */
async function claimWhile(meanwhile: () => Promise<void>): Promise<Claimed> {
  await pool().unsafe(`
    create schema slow;
    create function slow.wait() returns boolean language sql volatile
      as 'select pg_advisory_lock_shared(1) is not null';
    create view slow.webhook_endpoints as
      select * from sandbox.webhook_endpoints where slow.wait()`)
  let claiming: Promise<Claimed> | undefined
  await pool().begin(async (sql) => {
    await sql`select pg_advisory_xact_lock(1)`
    claiming = claimSlowly()
    await until(isStatementBlocked)
    await meanwhile()
  })
  return claiming!
}

test('pauses while a due delivery is locked, and sends it when the lock is released', async () => {
  const [eventId] = await stack.emit('prov', ['cus_1'])
  let claims = 0
  const dispatcher = new Dispatcher({
    ...idleParts,
    claim: (claim) => {
      claims += 1
      return claimDeliveries(pool(), claim)
    },
  })
  const startedAtMs = performance.now()
  await pool().begin(async (sql) => {
    await sql`select from webhook_deliveries where event_id = ${eventId!} for update`
    dispatcher.start()
    await until(async () => claims >= 20)
  })
  // Each round makes two claims: one for first attempts and one for retries, of which there are none.
  expect((performance.now() - startedAtMs) / (claims / 2)).toBeGreaterThan(5)
  await until(async () => (await statesOf(eventId!))[0] === 'succeeded')
  await dispatcher.stop()
})

test('does not claim a late event of a customer while another event of that customer is in flight', async () => {
  const [early, later] = await stack.emit('prov', ['cus_1', 'cus_1'])
  // Simulates an event that is not committed yet.
  await pool()`update webhook_deliveries set state = 'held' where event_id = ${early!}`
  expect((await claimDeliveries(pool(), firstAttempts)).found).toBe(1)
  await pool()`update webhook_deliveries set state = 'pending' where event_id = ${early!}`
  expect((await claimDeliveries(pool(), firstAttempts)).found).toBe(0)
  await recordOutcomes(pool(), [outcomeOf(later!)], [], now)
  expect((await claimDeliveries(pool(), firstAttempts)).found).toBe(1)
})

test('deletes deliveries of test clocks by the real time at which they were recorded', async () => {
  const [young, old] = await stack.emit('prov', ['cus_1', 'cus_2'])
  await pool()`update webhook_deliveries set created_at = '2040-01-01', recorded_at = '2026-03-01'`
  await pool()`update webhook_deliveries set recorded_at = '2026-01-01' where event_id = ${old!}`
  expect(await deleteOldDeliveries(pool(), new Date('2026-02-01T00:00:00Z'))).toBe(1)
  expect(await pool()`select event_id from webhook_deliveries`).toEqual([{ event_id: young }])
})

test('deletes old deliveries although newer or locked ones come first', async () => {
  const [young, old, held] = await stack.emit('prov', ['cus_1', 'cus_2', 'cus_3'])
  const createdAt = '2026-01-01T00:00:00Z'
  await pool()`
    update webhook_deliveries set created_at = ${createdAt} where event_id in ${pool()([old!, held!])}`
  const deleted = await pool().begin(async (sql) => {
    await sql`select from webhook_deliveries where event_id = ${held!} for update`
    return deleteOldDeliveries(pool(), new Date('2026-02-01T00:00:00Z'))
  })
  expect(deleted).toBe(1)
  const left = await pool()`select event_id from webhook_deliveries order by sequence`
  expect(left).toEqual([{ event_id: young }, { event_id: held }])
})
