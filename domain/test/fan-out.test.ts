import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '@tollgate/platform/database/database'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import type { OutboxEvent } from '../src/outbox/outbox-event.ts'
import { eraseCustomerEvents, insertOutboxEvents } from '../src/outbox/repository.ts'
import { dispatcherChannel } from '../src/outbox/dispatcher-channel.ts'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'

/* On a real PostgreSQL: the deliveries that are queued when events are emitted. */

let postgres: TestDatabase
let database: Database

beforeAll(async () => {
  postgres = await startTestDatabase(migrationsFolder)
  database = createPostgresDatabase({ url: postgres.url, poolMax: 2 })
})

afterAll(async () => {
  await database.close()
  await postgres.stop()
})

const now = new Date('2026-03-01T10:00:00.400Z')

function eventOf(providerId: string, eventId: string, type = 'payment.succeeded'): OutboxEvent {
  return {
    eventId,
    providerId,
    type,
    livemode: false,
    object: { id: 'cus_1', customer: 'cus_1', name: 'Ünïcode "quoted"' },
    previousAttributes: null,
    requestId: 'req_1',
    idempotencyKey: null,
    createdAt: now,
  }
}

/** `endpoints`: the event types that each endpoint receives, and its status. */
async function insertEndpoints(
  providerId: string,
  endpoints: Readonly<Record<string, { types: string[]; status: string }>>,
): Promise<void> {
  const isDisabled = (status: string) => status === 'disabled'
  for (const [reference, { types, status }] of Object.entries(endpoints)) {
    await database
      .of(providerId)
      .in('sandbox')
      .write(
        (sql) => sql`
        insert into webhook_endpoints
          (provider_id, reference, url, enabled_events, status, disabled_reason, disabled_at, created_at, updated_at)
        values (${providerId}, ${reference}, 'https://example.com', ${types}, ${status},
          ${isDisabled(status) ? 'provider' : null}, ${isDisabled(status) ? now : null}, ${now}, ${now})`,
      )
  }
}

const emitEvents = (providerId: string, events: readonly OutboxEvent[]) =>
  database
    .of(providerId)
    .in('sandbox')
    .write((sql) => insertOutboxEvents(sql, events))

const queuedFor = (providerId: string) => database.in('sandbox')<{ event_id: string }[]>`
  select reference, endpoint_ref, event_id, state, order_key, due_at from webhook_deliveries
  where provider_id = ${providerId} order by reference`

test('queues one delivery for each endpoint of the provider that receives the type, and none for others', async () => {
  await insertEndpoints('prov_a', {
    we_ALL: { types: [], status: 'enabled' },
    we_SAME: { types: ['payment.failed', 'payment.succeeded'], status: 'enabled' },
    we_OTHER: { types: ['payment.failed'], status: 'enabled' },
    we_OFF: { types: [], status: 'disabled' },
    we_GONE: { types: [], status: 'deleted' },
  })
  await insertEndpoints('prov_b', { we_THEIRS: { types: [], status: 'enabled' } })
  expect(await emitEvents('prov_a', [eventOf('prov_a', 'evt_1')])).toBe(1)
  const shared = { event_id: 'evt_1', order_key: 'cus_1', due_at: now }
  expect(await queuedFor('prov_a')).toEqual([
    { ...shared, reference: 'dlv_1ALL', endpoint_ref: 'we_ALL', state: 'pending' },
    { ...shared, reference: 'dlv_1OFF', endpoint_ref: 'we_OFF', state: 'held' },
    { ...shared, reference: 'dlv_1SAME', endpoint_ref: 'we_SAME', state: 'pending' },
  ])
  expect(await queuedFor('prov_b')).toEqual([])
})

test('stores the same customer with an event and its deliveries', async () => {
  await insertEndpoints('prov_keys', { we_KEYS: { types: [], status: 'enabled' } })
  const cases = [
    ['customer.deleted', { id: 'cus_1' }, 'cus_1'],
    ['payment.succeeded', { id: 'pi_1', customer: 'cus_2' }, 'cus_2'],
    ['customer.credit.granted', { customerId: 'cus_3' }, 'cus_3'],
    ['customer.credit.auto_topup_failed', { customerRef: 'cus_4' }, 'cus_4'],
    ['checkout_session.created', { id: 'cs_1', customer: null }, null],
    ['plan.created', { id: 'pln_1' }, null],
  ] as const
  const events = cases.map(([type, object], number) => {
    return { ...eventOf('prov_keys', `evt_k${number}`, type), object }
  })
  await emitEvents('prov_keys', events)
  const keys = await database.in('sandbox')<{ event: string | null; delivery: string | null }[]>`
    select event.order_key as event, delivery.order_key as delivery
    from outbox event join webhook_deliveries delivery using (event_id)
    where event.provider_id = 'prov_keys' order by event_id`
  expect(keys).toEqual(cases.map(([, , key]) => ({ event: key, delivery: key })))
})

test('does not emit an existing event again', async () => {
  await insertEndpoints('prov_twice', { we_TWICE: { types: [], status: 'enabled' } })
  const [first, second] = [eventOf('prov_twice', 'evt_t1'), eventOf('prov_twice', 'evt_t2')]
  expect(await emitEvents('prov_twice', [first])).toBe(1)
  expect(await emitEvents('prov_twice', [first, second])).toBe(1)
  expect((await queuedFor('prov_twice')).map(({ event_id }) => event_id)).toEqual([
    'evt_t1',
    'evt_t2',
  ])
})

test('notifies the dispatcher once per commit with deliveries to send, and by no other commit', async () => {
  await insertEndpoints('prov_w', { we_W: { types: ['payment.succeeded'], status: 'enabled' } })
  const heard: string[] = []
  let wake = (): void => undefined
  const marker = new Promise<void>((resolve) => (wake = resolve))
  const listening = await database.control.listen(dispatcherChannel, (payload) => {
    heard.push(payload)
    if (payload === 'end') wake()
  })
  await emitEvents('prov_w', [eventOf('prov_w', 'evt_w0', 'payment.failed')])
  await emitEvents('prov_none', [eventOf('prov_none', 'evt_none')])
  await emitEvents('prov_w', [eventOf('prov_w', 'evt_w1'), eventOf('prov_w', 'evt_w2')])
  await database.control`select pg_notify(${dispatcherChannel}, 'end')`
  await marker
  await listening.unlisten()
  expect(heard).toEqual(['sandbox', 'end'])
})

test('stores the body with the event, and deletes it when the customer is erased', async () => {
  await emitEvents('prov_body', [eventOf('prov_body', 'evt_body', 'customer.created')])
  const readBody = async () => {
    const [row] = await database.in('sandbox')<{ body: string | null }[]>`
      select body from outbox where event_id = 'evt_body'`
    return row!.body
  }
  expect(await readBody()).toBe(
    '{"id":"evt_body","type":"customer.created","created":1772359200,"api_version":"2025-10-01",' +
      '"data":{"object":{"id":"cus_1","customer":"cus_1","name":"Ünïcode \\"quoted\\""},"previous_attributes":null},' +
      '"livemode":false,"request":{"id":"req_1","idempotency_key":null}}',
  )
  await database
    .of('prov_body')
    .in('sandbox')
    .write((sql) => eraseCustomerEvents(sql, 'prov_body', 'cus_1'))
  expect(await readBody()).toBeNull()
})
