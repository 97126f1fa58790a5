import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DispatcherProcesses } from './dispatcher-processes.ts'
import { startDispatcherStack, until, type DispatcherStack } from './dispatcher-stack.ts'
import { startReceiver, type Receiver } from './receiver.ts'

/* Dispatcher processes are killed (SIGKILL) while they send. No delivery is lost. */

// The test starts four processes.
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

test('delivers every event although dispatchers are killed, and repeats carry the same reference', async () => {
  receiver = await startReceiver(async () => {
    await new Promise((resolve) => setTimeout(resolve, 5))
    return { status: 200 }
  })
  for (const reference of endpoints) {
    await stack.insertEndpoint({ providerId: 'prov', reference, url: receiver.url })
  }
  const customers = Array.from({ length: eventsPerLife }, (_, index) => `cus_${index}`)
  const emitted: string[] = []
  // Each process is killed as soon as it has sent some deliveries, with others in flight.
  for (const sentBefore of [10, 45, 100]) {
    emitted.push(...(await stack.emit('prov', customers)))
    const before = receiver.received.length
    const child = processes.start()
    await until(() => receiver!.received.length >= before + sentBefore)
    await processes.kill(child)
    // Ends all leases. A claim that PostgreSQL commits for the dead process even later has to expire by itself.
    await stack.database.in('sandbox')`update webhook_deliveries set leased_until = null`
  }
  processes.start()
  const countOpen = async (): Promise<number> => {
    const [row] = await stack.database.in('sandbox')<{ open: number }[]>`
      select count(*)::int as open from webhook_deliveries where state <> 'succeeded'`
    return row!.open
  }
  await until(async () => (await countOpen()) === 0, 90_000)
  const expected = emitted.flatMap((eventId) =>
    endpoints.map((reference) => `dlv_${eventId.slice(4)}${reference.slice(3)}`),
  )
  const { received } = receiver
  expect(new Set(received.map(({ deliveryRef }) => deliveryRef))).toEqual(new Set(expected))
  // Only deliveries in flight at a kill are repeated: four for each endpoint and kill.
  expect(received.length).toBeLessThanOrEqual(expected.length + 3 * 4 * endpoints.length)
  const [recorded] = await stack.database.in('sandbox')<{ twice: number }[]>`
    select count(*)::int as twice from webhook_deliveries where attempts <> 1`
  expect(recorded!.twice).toBe(0)
})
