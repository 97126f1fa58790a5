import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DispatcherProcesses } from './dispatcher-processes.ts'
import { startDispatcherStack, until, type DispatcherStack } from './dispatcher-stack.ts'
import { startReceiver, type Receiver } from './receiver.ts'

/* Dispatchers as processes of their own that die (-9) in the middle of their work: nothing is lost. */

// Four processes are started.
vi.setConfig({ testTimeout: 150_000 })

let stack: DispatcherStack
let receiver: Receiver | undefined
let processes: DispatcherProcesses

beforeEach(async () => {
  stack = await startDispatcherStack()
  processes = new DispatcherProcesses(stack)
})

afterEach(async () => {
  await processes.killAll()
  await stack.close()
  await receiver?.close()
})

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
    const child = processes.start()
    await until(() => receiver!.received.length >= before + sentBefore)
    await processes.kill(child)
    // As if their time had passed. What the server claims for the dead one even later has to wait for it.
    await stack.database.in('sandbox')`update webhook_deliveries set leased_until = null`
  }
  processes.start()
  const countOpen = async (): Promise<number> => {
    const [row] = await stack.database.in('sandbox')<{ open: number }[]>`
      select count(*)::int as open from webhook_deliveries where state <> 'succeeded'`
    return row!.open
  }
  await until(async () => (await countOpen()) === 0, 90_000)
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
