import type { ChildProcess } from 'node:child_process'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import type { Database, Queryable } from '@tollgate/platform/database/database'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import { DispatcherProcesses } from './dispatcher-processes.ts'
import { startDispatcherStack, until, type DispatcherStack } from './dispatcher-stack.ts'
import { isSignedBy, startReceiver, type Received, type Receiver } from './receiver.ts'

/*
 * A dispatcher is killed (SIGKILL) between two of its effects. The test stops it there: it locks the row that the second effect
 * needs, or the receiver delays its response. docs/decisions/webhooks.md, What holds where a dispatcher dies,
 * lists the effects and what holds between them.
 */

// Each test starts up to three processes.
vi.setConfig({ testTimeout: 90_000 })

let stack: DispatcherStack
let owner: Database
let processes: DispatcherProcesses
let receiver: Receiver | undefined

beforeAll(async () => {
  stack = await startDispatcherStack()
  owner = createPostgresDatabase({ url: stack.databaseUrl, isOwner: true, poolMax: 4 })
  processes = new DispatcherProcesses(stack)
})

afterEach(async () => {
  await processes.killAll()
  await receiver?.close()
  await stack.reset()
})

afterAll(async () => {
  await owner.close()
  await stack.close()
})

const sandbox = () => owner.in('sandbox')

async function isStatementBlocked(): Promise<boolean> {
  const [row] = await sandbox()<{ waiting: boolean }[]>`
    select exists (select from pg_locks where not granted) as waiting`
  return row!.waiting
}

/**
 * Kills the dispatcher while it waits for a lock that `hold` takes. `begin` lets it reach that point. The blocked statement is
 * terminated and has no effect.
 */
async function killWhileBlockedBy(
  child: ChildProcess,
  hold: (sql: Queryable) => Promise<unknown>,
  begin: () => unknown = () => undefined,
): Promise<void> {
  await sandbox().begin(async (sql) => {
    await hold(sql)
    begin()
    await until(isStatementBlocked)
    await processes.kill(child)
    await endBlockedStatements()
  })
}

/** PostgreSQL would otherwise finish a statement of a client that has died. */
async function endBlockedStatements(): Promise<void> {
  await sandbox()`select pg_terminate_backend(pid) from pg_locks where not granted`
  await until(async () => !(await isStatementBlocked()))
}

const holdDelivery = (eventId: string) => (sql: Queryable) =>
  sql`select from webhook_deliveries where event_id = ${eventId} for update`

/** Ends all leases, as if their time had passed. */
const endLeases = () => sandbox()`update webhook_deliveries set leased_until = now()`

async function stateOf(eventId: string): Promise<{ state: string; attempts: number }> {
  const [row] = await sandbox()<{ state: string; attempts: number }[]>`
    select state, attempts from webhook_deliveries where event_id = ${eventId}`
  return row!
}

const isDelivered = async (eventId: string) => (await stateOf(eventId)).state === 'succeeded'

async function receive(
  answer: Parameters<typeof startReceiver>[0],
  secrets?: readonly { readonly text: string; readonly signsFirst: boolean }[],
): Promise<Receiver> {
  receiver = await startReceiver(answer)
  const { url } = receiver
  await stack.insertEndpoint({
    providerId: 'prov',
    reference: 'we_A',
    url,
    ...(secrets !== undefined && { secrets }),
  })
  return receiver
}

/** Expects that the receiver got the same delivery twice and that one outcome is recorded. */
async function expectSentTwice({ received }: Receiver, eventId: string): Promise<void> {
  expect(received.map(({ attempt }) => attempt)).toEqual([1, 1])
  expect(new Set(received.map(({ deliveryRef }) => deliveryRef)).size).toBe(1)
  expect(await stateOf(eventId)).toEqual({ state: 'succeeded', attempts: 1 })
}

test('sends a delivery again after a crash between claim and response, when the lease expires', async () => {
  const receiver = await receive(() => (receiver.received.length === 1 ? 'hang' : { status: 200 }))
  const [eventId] = await stack.emit('prov', ['cus_1'])
  const child = processes.start()
  await until(() => receiver.received.length === 1)
  await processes.kill(child)
  expect(await stateOf(eventId!)).toEqual({ state: 'pending', attempts: 0 })
  await endLeases()
  processes.start()
  await until(() => isDelivered(eventId!))
  await expectSentTwice(receiver, eventId!)
})

test('sends a delivery again after a crash between response and record, and counts it once', async () => {
  let answer = (): void => undefined
  const mayAnswer = new Promise<void>((resolve) => (answer = resolve))
  const receiver = await receive(async () => {
    await mayAnswer
    return { status: 200 }
  })
  const [eventId] = await stack.emit('prov', ['cus_1'])
  const child = processes.start()
  await until(() => receiver.received.length === 1)
  await killWhileBlockedBy(child, holdDelivery(eventId!), answer)
  expect(await stateOf(eventId!)).toEqual({ state: 'pending', attempts: 0 })
  await endLeases()
  processes.start()
  await until(() => isDelivered(eventId!))
  await expectSentTwice(receiver, eventId!)
})

test('keeps the success after a crash before a secret is promoted, and promotes it with the next refusal', async () => {
  const isSigned = (received: Received) => isSignedBy(received, 'whsec_new', 'first')
  const receiver = await receive(
    (received) => ({ status: isSigned(received) ? 200 : 401 }),
    [
      { text: 'whsec_old', signsFirst: true },
      { text: 'whsec_new', signsFirst: false },
    ],
  )
  const [first] = await stack.emit('prov', ['cus_1'])
  const child = processes.start()
  await killWhileBlockedBy(child, (sql) => sql`select from webhook_endpoints for update`)
  expect(await stateOf(first!)).toEqual({ state: 'succeeded', attempts: 1 })
  processes.start()
  for (const customer of ['cus_2', 'cus_3']) {
    const [eventId] = await stack.emit('prov', [customer])
    await until(() => isDelivered(eventId!))
    await until(async () => (await signingFirst()) === 'whs_we_A_1')
  }
  expect(receiver.received.map(isSigned)).toEqual([false, true, false, true, true])
})

async function signingFirst(): Promise<string> {
  const [row] = await sandbox()<{ reference: string }[]>`
    select reference from webhook_secrets where signs_first`
  return row!.reference
}

test('holds the queued deliveries of an endpoint after a crash right after it was disabled, and sends none', async () => {
  const receiver = await receive(() => ({ status: 410 }))
  const [gone, waiting] = await stack.emit('prov', ['cus_1', 'cus_2'])
  // Claims skip the locked delivery, and the sync of endpoint status waits for it.
  await sandbox().begin(async (sql) => {
    await holdDelivery(waiting!)(sql)
    const child = processes.start()
    await until(isStatementBlocked)
    await processes.kill(child)
    await endBlockedStatements()
  })
  const [endpoint] = await sandbox()`select status from webhook_endpoints`
  expect(endpoint).toEqual({ status: 'disabled' })
  expect(await stateOf(waiting!)).toEqual({ state: 'pending', attempts: 0 })
  processes.start()
  await until(async () => (await stateOf(waiting!)).state === 'held')
  expect(await stateOf(gone!)).toEqual({ state: 'held', attempts: 1 })
  expect(receiver.received.length).toBe(1)
})

test('sends held deliveries if an endpoint was enabled while no dispatcher was running', async () => {
  await receive(() => ({ status: 200 }))
  await sandbox()`
    update webhook_endpoints set status = 'disabled', disabled_reason = 'provider', disabled_at = now()`
  const [eventId] = await stack.emit('prov', ['cus_1'])
  expect(await stateOf(eventId!)).toEqual({ state: 'held', attempts: 0 })
  await sandbox()`
    update webhook_endpoints set status = 'enabled', disabled_reason = null, disabled_at = null`
  processes.start()
  await until(() => isDelivered(eventId!))
})

test('deletes a delivery and its attempts together, or neither, after a crash during clean-up', async () => {
  const createdAt = '2020-01-01T00:00:00Z'
  await receive(() => ({ status: 200 }))
  const [eventId] = await stack.emit('prov', ['cus_1'])
  const sending = processes.start()
  await until(() => isDelivered(eventId!))
  await processes.kill(sending)
  await sandbox()`update webhook_deliveries set created_at = ${createdAt}`
  await killWhileBlockedBy(processes.start(), (sql) => sql`select from webhook_attempts for update`)
  expect(await countKept()).toEqual({ deliveries: 1, attempts: 1 })
  processes.start()
  await until(async () => (await countKept()).deliveries === 0)
  expect(await countKept()).toEqual({ deliveries: 0, attempts: 0 })
})

async function countKept(): Promise<{ deliveries: number; attempts: number }> {
  const [row] = await sandbox()<{ deliveries: number; attempts: number }[]>`
    select (select count(*) from webhook_deliveries)::int as deliveries,
      (select count(*) from webhook_attempts)::int as attempts`
  return row!
}
