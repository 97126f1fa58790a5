import type { ChildProcess } from 'node:child_process'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import type { Database, Queryable } from '@tollgate/platform/database/database'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import { DispatcherProcesses } from './dispatcher-processes.ts'
import { startDispatcherStack, until, type DispatcherStack } from './dispatcher-stack.ts'
import { isSignedBy, startReceiver, type Received, type Receiver } from './receiver.ts'

/*
 * A dispatcher dies (-9) between two of its effects. It is caught there by the row that the second one needs, which the test
 * holds, or by the receiver. See docs/decisions/webhooks.md, What holds where
 * a dispatcher dies, for the effects and what holds between them.
 */

// Up to three processes are started in each.
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

async function isSomebodyWaiting(): Promise<boolean> {
  const [row] = await sandbox()<{ waiting: boolean }[]>`
    select exists (select from pg_locks where not granted) as waiting`
  return row!.waiting
}

/** Kills the dispatcher where it waits for what `hold` locks. `begin` lets it come there. What it waits with is not done. */
async function killWhereItNeeds(
  child: ChildProcess,
  hold: (sql: Queryable) => Promise<unknown>,
  begin: () => unknown = () => undefined,
): Promise<void> {
  await sandbox().begin(async (sql) => {
    await hold(sql)
    begin()
    await until(isSomebodyWaiting)
    await processes.kill(child)
    await endWaiting()
  })
}

/** The server would go on by itself with a statement that it has begun. */
async function endWaiting(): Promise<void> {
  await sandbox()`select pg_terminate_backend(pid) from pg_locks where not granted`
  await until(async () => !(await isSomebodyWaiting()))
}

const holdDelivery = (eventId: string) => (sql: Queryable) =>
  sql`select from webhook_deliveries where event_id = ${eventId} for update`

/** As if its time had passed. */
const endLeases = () => sandbox()`update webhook_deliveries set leased_until = now()`

async function stateOf(eventId: string): Promise<{ state: string; attempts: number }> {
  const [row] = await sandbox()<{ state: string; attempts: number }[]>`
    select state, attempts from webhook_deliveries where event_id = ${eventId}`
  return row!
}

const isTaken = async (eventId: string) => (await stateOf(eventId)).state === 'succeeded'

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

/** The same delivery twice, of which one outcome is known. */
async function expectSentTwice({ received }: Receiver, eventId: string): Promise<void> {
  expect(received.map(({ attempt }) => attempt)).toEqual([1, 1])
  expect(new Set(received.map(({ deliveryRef }) => deliveryRef)).size).toBe(1)
  expect(await stateOf(eventId)).toEqual({ state: 'succeeded', attempts: 1 })
}

test('between the claim and the answer: it is sent again, by the same name, when the lease ends', async () => {
  const taker = await receive(() => (taker.received.length === 1 ? 'hang' : { status: 200 }))
  const [eventId] = await stack.tell('prov', ['cus_1'])
  const child = processes.start()
  await until(() => taker.received.length === 1)
  await processes.kill(child)
  expect(await stateOf(eventId!)).toEqual({ state: 'pending', attempts: 0 })
  await endLeases()
  processes.start()
  await until(() => isTaken(eventId!))
  await expectSentTwice(taker, eventId!)
})

test('between the answer and its record: the same, and what the receiver had counts once', async () => {
  let answer = (): void => undefined
  const mayAnswer = new Promise<void>((resolve) => (answer = resolve))
  const taker = await receive(async () => {
    await mayAnswer
    return { status: 200 }
  })
  const [eventId] = await stack.tell('prov', ['cus_1'])
  const child = processes.start()
  await until(() => taker.received.length === 1)
  await killWhereItNeeds(child, holdDelivery(eventId!), answer)
  expect(await stateOf(eventId!)).toEqual({ state: 'pending', attempts: 0 })
  await endLeases()
  processes.start()
  await until(() => isTaken(eventId!))
  await expectSentTwice(taker, eventId!)
})

test('between the record and the promotion of a secret: the success stands, and the next refusal promotes', async () => {
  const isSigned = (received: Received) => isSignedBy(received, 'whsec_new', 'first')
  const taker = await receive(
    (received) => ({ status: isSigned(received) ? 200 : 401 }),
    [
      { text: 'whsec_old', signsFirst: true },
      { text: 'whsec_new', signsFirst: false },
    ],
  )
  const [first] = await stack.tell('prov', ['cus_1'])
  const child = processes.start()
  await killWhereItNeeds(child, (sql) => sql`select from webhook_endpoints for update`)
  expect(await stateOf(first!)).toEqual({ state: 'succeeded', attempts: 1 })
  processes.start()
  for (const customer of ['cus_2', 'cus_3']) {
    const [eventId] = await stack.tell('prov', [customer])
    await until(() => isTaken(eventId!))
    await until(async () => (await signingFirst()) === 'whs_we_A_1')
  }
  expect(taker.received.map(isSigned)).toEqual([false, true, false, true, true])
})

async function signingFirst(): Promise<string> {
  const [row] = await sandbox()<{ reference: string }[]>`
    select reference from webhook_secrets where signs_first`
  return row!.reference
}

test('between disabling an endpoint and holding what waits for it: nothing of it is sent, and it is held', async () => {
  const taker = await receive(() => ({ status: 410 }))
  const [gone, waiting] = await stack.tell('prov', ['cus_1', 'cus_2'])
  // A claim passes over what is held, and a sweep waits for it.
  await sandbox().begin(async (sql) => {
    await holdDelivery(waiting!)(sql)
    const child = processes.start()
    await until(isSomebodyWaiting)
    await processes.kill(child)
    await endWaiting()
  })
  const [endpoint] = await sandbox()`select status from webhook_endpoints`
  expect(endpoint).toEqual({ status: 'disabled' })
  expect(await stateOf(waiting!)).toEqual({ state: 'pending', attempts: 0 })
  processes.start()
  await until(async () => (await stateOf(waiting!)).state === 'held')
  expect(await stateOf(gone!)).toEqual({ state: 'held', attempts: 1 })
  expect(taker.received.length).toBe(1)
})

test('after an endpoint was enabled and before anybody saw it: what was held is sent', async () => {
  await receive(() => ({ status: 200 }))
  await sandbox()`
    update webhook_endpoints set status = 'disabled', disabled_reason = 'provider', disabled_at = now()`
  const [eventId] = await stack.tell('prov', ['cus_1'])
  expect(await stateOf(eventId!)).toEqual({ state: 'held', attempts: 0 })
  await sandbox()`
    update webhook_endpoints set status = 'enabled', disabled_reason = null, disabled_at = null`
  processes.start()
  await until(() => isTaken(eventId!))
})

test('in the middle of the clean-up: a delivery goes with its attempts, or stays with them', async () => {
  const madeAt = '2020-01-01T00:00:00Z'
  await receive(() => ({ status: 200 }))
  const [eventId] = await stack.tell('prov', ['cus_1'])
  const sending = processes.start()
  await until(() => isTaken(eventId!))
  await processes.kill(sending)
  await sandbox()`update webhook_deliveries set created_at = ${madeAt}`
  await killWhereItNeeds(processes.start(), (sql) => sql`select from webhook_attempts for update`)
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
