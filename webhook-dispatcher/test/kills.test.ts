import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startDispatcherStack, until, type DispatcherStack } from './dispatcher-stack.ts'
import { startReceiver, type Receiver } from './receiver.ts'

/* Dispatchers as processes of their own that die (-9) in the middle of their work: nothing is lost. */

let stack: DispatcherStack
let receiver: Receiver | undefined
let processes: ChildProcess[]

beforeEach(async () => {
  stack = await startDispatcherStack()
  processes = []
})

afterEach(async () => {
  for (const child of processes) child.kill('SIGKILL')
  await stack.close()
  await receiver?.close()
})

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

function startProcess(): ChildProcess {
  const child = spawn(process.execPath, ['--conditions=source', '--import', 'tsx', main], {
    env: {
      PATH: process.env['PATH'],
      TOLLGATE_DATABASE_URL: stack.databaseUrl,
      TOLLGATE_SECRET_KEYS: stack.secretKeys,
      TOLLGATE_OUTBOUND_ALLOWED: '127.0.0.1',
      TOLLGATE_LOG_LEVEL: 'error',
      TOLLGATE_WEBHOOK_LEASE_MS: '1500',
      TOLLGATE_OUTBOUND_TIMEOUT_MS: '700',
      TOLLGATE_WEBHOOK_POLL_MS: '100',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  processes.push(child)
  return child
}

const eventsPerLife = 60
const endpoints = ['we_A', 'we_B', 'we_C']

test('each delivery arrives, whenever a dispatcher dies, and those that come twice are known', async () => {
  receiver = await startReceiver(async () => {
    await new Promise((resolve) => setTimeout(resolve, 5))
    return { status: 200 }
  })
  for (const reference of endpoints) {
    await stack.insertEndpoint({ providerId: 'prov', reference, url: receiver.url })
  }
  const customers = Array.from({ length: eventsPerLife }, (_, index) => `cus_${index}`)
  const told: string[] = []
  // Each dies as soon as it has sent some, with others on their way.
  for (const sentBefore of [10, 45, 100]) {
    told.push(...(await stack.tell('prov', customers)))
    const before = receiver.received.length
    const child = startProcess()
    await until(() => receiver!.received.length >= before + sentBefore)
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  startProcess()
  const countOpen = async (): Promise<number> => {
    const [row] = await stack.database.in('sandbox')<{ open: number }[]>`
      select count(*)::int as open from webhook_deliveries where state <> 'succeeded'`
    return row!.open
  }
  await until(async () => (await countOpen()) === 0)
  const expected = told.flatMap((eventId) =>
    endpoints.map((reference) => `dlv_${eventId.slice(4)}${reference.slice(3)}`),
  )
  const { received } = receiver
  expect(new Set(received.map(({ deliveryRef }) => deliveryRef))).toEqual(new Set(expected))
  // What was on its way when a process died, and no more: four for each endpoint, three times.
  expect(received.length).toBeLessThanOrEqual(expected.length + 3 * 4 * endpoints.length)
  const [recorded] = await stack.database.in('sandbox')<{ twice: number }[]>`
    select count(*)::int as twice from webhook_deliveries where attempts <> 1`
  expect(recorded!.twice).toBe(0)
})
