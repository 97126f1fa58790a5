import { deleteOldEvents, lockOutboxEvent } from '@tollgate/domain/outbox/delete-old-events'
import { insertOutboxEvents } from '@tollgate/domain/outbox/repository'
import { migrationsFolder } from '@tollgate/domain/postgres/migrations-folder'
import { generateEventId } from '@tollgate/domain/unit-of-work/generate-event-id'
import { eraseAnswers, scheduleAnswerErasure } from '@tollgate/domain/webhooks/answer-erasures'
import { startTestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { SeededRandom } from '@tollgate/platform/testing/seeded-random'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { databaseOf, ProcessCrashedError, CrashingProcess } from '../money/crashing-process.ts'

/* Data that is deleted: old events, and receivers' answers about erased customers. */

const providerId = 'prv_1'
const dayMs = 86_400_000
const today = new Date('2026-06-01T12:00:00Z')
const daysAgo = (days: number): Date => new Date(today.getTime() - days * dayMs)

const postgres = await startTestDatabase(migrationsFolder)
afterAll(() => postgres.stop())
beforeEach(async () => {
  for (const table of ['answer_erasures', 'webhook_attempts', 'webhook_deliveries', 'outbox']) {
    await sandbox()`delete from ${sandbox()(table)}`
  }
  await sandbox()`delete from webhook_endpoints`
  await sandbox()`
    insert into webhook_endpoints (provider_id, reference, url, created_at, updated_at)
    values (${providerId}, 'we_1', 'https://example.com', ${today}, ${today})`
})

const sandbox = () => postgres.database.in('sandbox')

type Told = { readonly createdAt: Date; readonly customer?: string; readonly isSent?: boolean }

/** Writes events in one transaction, in the given order. Returns their ids. */
async function insertEvent(events: readonly Told[]): Promise<string[]> {
  const rows = events.map(({ createdAt, customer = 'cus_1' }) => ({
    eventId: generateEventId(createdAt),
    providerId,
    type: 'purchase.created',
    livemode: false,
    object: { customer },
    previousAttributes: null,
    requestId: null,
    idempotencyKey: null,
    createdAt,
  }))
  await insertOutboxEvents(sandbox(), rows)
  const unsent = rows.filter((_, at) => events[at]!.isSent !== true).map(({ eventId }) => eventId)
  await sandbox()`delete from webhook_deliveries where event_id = any(${unsent})`
  return rows.map(({ eventId }) => eventId)
}

async function remainingIds(): Promise<Set<string>> {
  const rows = await sandbox()<{ event_id: string }[]>`select event_id from outbox`
  return new Set(rows.map((row) => row.event_id))
}

const poolOf = (life: CrashingProcess) => databaseOf(life, postgres.database).in('sandbox')
const deleteOld = (life = new CrashingProcess()) => deleteOldEvents(poolOf(life), daysAgo(90), 7)

test('deletes old events without deliveries, however often the process dies', async () => {
  const random = new SeededRandom(20_260_601)
  const events = Array.from({ length: 200 }, (_, at): Told => {
    // The order of the events is nearly the order of their times.
    const days = 180 - at + random.below(5)
    return { createdAt: daysAgo(days), isSent: random.below(4) === 0 }
  })
  const ids = await insertEvent(events)
  const states = ['pending', 'held', 'succeeded', 'failed', 'skipped']
  for (const [at, id] of ids.entries()) {
    await sandbox()`
      update webhook_deliveries set state = ${states[at % 5]!} where event_id = ${id}`
  }
  const expected = ids.filter((_, at) => {
    const { createdAt, isSent } = events[at]!
    return createdAt >= daysAgo(90) || isSent
  })
  let deaths = 0
  for (let isDead = true; isDead; deaths += Number(isDead)) {
    const life = new CrashingProcess({ atStep: 1 + random.below(8), sendsPendingCall: false })
    await deleteOld(life).catch((error: unknown) =>
      expect(error).toBeInstanceOf(ProcessCrashedError),
    )
    isDead = life.hasCrashed
    const kept = await remainingIds()
    expect(expected.filter((id) => !kept.has(id))).toEqual([])
  }
  expect(deaths).toBeGreaterThan(0)
  expect(await remainingIds()).toEqual(new Set(expected))
  // Without deliveries, nothing keeps the events.
  await sandbox()`delete from webhook_deliveries`
  await deleteOld()
  const young = ids.filter((_, at) => events[at]!.createdAt >= daysAgo(90))
  expect(await remainingIds()).toEqual(new Set(young))
})

test('deletes old events although many of test clocks, dated years ahead, come first', async () => {
  const ahead = new Date(Date.now() + 3_000 * dayMs)
  const [kept, ...recorded] = await insertEvent(
    Array.from({ length: 30 }, () => ({ createdAt: ahead })),
  )
  await insertEvent([{ createdAt: daysAgo(100) }])
  await sandbox()`
    update outbox set recorded_at = ${daysAgo(1)} where created_at > ${today} and recorded_at is not null`
  await sandbox()`update outbox set recorded_at = ${daysAgo(100)} where event_id = any(${recorded})`
  expect(await deleteOld()).toBe(recorded.length + 1)
  expect(await remainingIds()).toEqual(new Set([kept]))
})

test('deletes each event once in two concurrent runs', async () => {
  await insertEvent(Array.from({ length: 100 }, () => ({ createdAt: daysAgo(100) })))
  const deleted = await Promise.all([deleteOld(), deleteOld(), deleteOld()])
  expect(deleted.reduce((sum, each) => sum + each)).toBe(100)
  expect(await remainingIds()).toEqual(new Set())
})

test('reads, but does not write, events that a delivery still references', async () => {
  await insertEvent([{ createdAt: daysAgo(100), isSent: true }])
  expect(await deleteOld()).toBe(0)
  const [row] = await sandbox()<{ locker: string }[]>`select xmax::text as locker from outbox`
  expect(row).toEqual({ locker: '0' })
})

test('does not delete an event that a replay has locked', async () => {
  const [id] = await insertEvent([{ createdAt: daysAgo(100) }])
  await sandbox().begin(async (replay) => {
    expect(await lockOutboxEvent(replay, providerId, id!)).toBe(true)
    expect(await deleteOld()).toBe(0)
    await replay`
      insert into webhook_deliveries
        (provider_id, reference, endpoint_ref, event_id, event_type, state, due_at, created_at)
      values (${providerId}, 'dlv_1', 'we_1', ${id!}, 'purchase.created', 'pending', ${today}, ${today})`
  })
  expect(await deleteOld()).toBe(0)
  expect(await remainingIds()).toEqual(new Set([id]))
})

test('finds an event gone in a replay that starts during its deletion', async () => {
  const [id] = await insertEvent([{ createdAt: daysAgo(100) }])
  let held: Promise<boolean> | undefined
  await sandbox().begin(async (deletion) => {
    await deletion`delete from outbox where event_id = ${id!}`
    held = lockOutboxEvent(sandbox(), providerId, id!)
    const waiting = () => deletion`select from pg_locks where not granted`
    await expect.poll(async () => (await waiting()).count, { timeout: 20_000 }).toBe(1)
  })
  expect(await held).toBe(false)
})

/** Adds 2 answered attempts to the delivery of each event. */
async function answer(): Promise<void> {
  await sandbox()`
    insert into webhook_attempts
      (provider_id, delivery_ref, number, claim, is_reversed, started_at, duration_ms, status, answer, is_late)
    select provider_id, reference, number, number, false, ${today}, 5, 500, 'no customer Ada', false
    from webhook_deliveries cross join (values (1), (2)) attempt (number)
    on conflict (provider_id, delivery_ref, claim, is_reversed) do update set answer = excluded.answer`
}

async function answersAbout(customer: string): Promise<(string | null)[]> {
  const rows = await sandbox()<{ answer: string | null }[]>`
    select answer from webhook_attempts attempt
      join webhook_deliveries delivery on delivery.reference = attempt.delivery_ref
    where order_key = ${customer}`
  return rows.map((row) => row.answer)
}

test('deletes stored responses about an erased customer, even those in flight, and no others', async () => {
  const event = { createdAt: today, isSent: true }
  await insertEvent(Array.from({ length: 20 }, () => ({ ...event, customer: 'cus_gone' })))
  await insertEvent(Array.from({ length: 5 }, () => ({ ...event, customer: 'cus_here' })))
  await answer()
  await scheduleAnswerErasure(sandbox(), providerId, 'cus_gone', today)
  const erase = (now: Date, life = new CrashingProcess()) => eraseAnswers(poolOf(life), now, 3)
  let deaths = 0
  for (let isDead = true; isDead; deaths += Number(isDead)) {
    const life = new CrashingProcess({ atStep: 1 + (deaths % 5), sendsPendingCall: false })
    await erase(today, life).catch((error: unknown) =>
      expect(error).toBeInstanceOf(ProcessCrashedError),
    )
    isDead = life.hasCrashed
  }
  expect(deaths).toBeGreaterThan(5)
  expect(new Set(await answersAbout('cus_gone'))).toEqual(new Set([null]))
  await answer()
  await erase(daysAgo(-0.9))
  expect(new Set(await answersAbout('cus_gone'))).toEqual(new Set(['no customer Ada']))
  await erase(daysAgo(-1.1))
  expect(await answersAbout('cus_gone')).toEqual(Array.from({ length: 40 }, () => null))
  expect(new Set(await answersAbout('cus_here'))).toEqual(new Set(['no customer Ada']))
  expect(await sandbox()`select from answer_erasures`).toHaveLength(0)
})
