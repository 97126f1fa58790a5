import { setTimeout as sleep } from 'node:timers/promises'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { ownKeyPath } from '@tollgate/schemas/http/own-key'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startInstance, type Instance } from '../../tools/src/instance/instance.ts'
import { requestWithRetries } from '../src/client/request-with-retries.ts'
import { createTollgateClient, type TollgateClient } from '../src/client/tollgate-client.ts'
import { dataFolderAt } from '../src/standalone/data-folder.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../src/standalone/temporary-folder.ts'
import { createCappedProduct, createCustomer } from './offers.ts'

/*
 * One CloudEvent counts on several meters, through a whole installation of `npm start`: its processes are killed while events are
 * sent, every event is sent twice, and the sums in hot state and in ClickHouse are exact.
 */

const partitionCount = 4
const eventTotal = 896
const callersMax = 16
const limit = 1_000_000

let folder: TemporaryFolder
let instance: Instance
let client: TollgateClient

beforeAll(async () => {
  folder = await makeTemporaryFolder('event-meters')
  const environment = { ...process.env, TOLLGATE_LOG_PARTITIONS: String(partitionCount) }
  instance = await startInstance({ dataDir: folder.path, port: 0, environment })
  const { baseUrl, sandboxKey: key } = instance.credentials
  client = createTollgateClient({ baseUrl, key, connectionsMax: 32, timeoutMs: 15_000 })
})

afterAll(async () => {
  client.close()
  await instance.stop()
  await folder.remove()
})

type Result = {
  readonly reference: string
  readonly counts: readonly { readonly meterName: string; readonly value: number }[]
  readonly creditDebit?: { readonly reason?: string }
}

/** Sends the event until it is accepted, as a client does while a service restarts. */
async function send(event: object): Promise<Result> {
  const deadlineMs = Date.now() + 60_000
  for (;;) {
    const answer = await client.send('POST', '/v1/events', event).catch(() => undefined)
    if (answer?.status === 200) return answer.body as Result
    if (answer !== undefined && answer.status < 500) throw new Error(JSON.stringify(answer.body))
    if (Date.now() > deadlineMs) throw new Error('the event was not accepted in time')
    await sleep(50)
  }
}

const meters = [
  { name: 'tokens', aggregation: 'sum', value: ['/usage/input', '/usage/output'] },
  { name: 'large_calls', aggregation: 'count', where: { model: ['large'] } },
  { name: 'readers', aggregation: 'unique', value: '/user' },
] as const

const models = ['large', 'small'] as const

/** Values with six decimals, so that sums of doubles would differ. */
function eventAt(number: number, productref: string, customers: readonly string[]) {
  return {
    specversion: '1.0',
    id: `event ${number % 448}`,
    // Two sources use the same ids for the same customers.
    source: `/models/${Math.floor(number / 448)}`,
    type: 'llm.call',
    subject: customers[number % customers.length]!,
    productref,
    ...(number % 10 === 9 && { outcome: 'fail' }),
    data: {
      model: models[number % 3 === 0 ? 0 : 1],
      user: `reader ${number % 7}`,
      usage: { input: number + 0.000001, output: `${number % 5}.100003` },
    },
  }
}

type Expected = { tokens: bigint; large_calls: bigint; readers: Set<string>; records: number }

function expectedOf(events: readonly ReturnType<typeof eventAt>[], customerRef: string): Expected {
  const expected: Expected = { tokens: 0n, large_calls: 0n, readers: new Set(), records: 0 }
  for (const { subject, outcome, data } of events) {
    if (subject !== customerRef || outcome === 'fail') continue
    const { input, output } = data.usage
    expected.tokens += BigInt(Math.round(input * 1e6)) + BigInt(output.replace('.', ''))
    if (data.model === 'large') expected.large_calls += 1_000_000n
    expected.readers.add(data.user)
    expected.records += 1
  }
  return expected
}

async function kill(name: string): Promise<void> {
  const { processes } = await instance.runFile()
  process.kill(processes[name]!, 'SIGKILL')
}

test('an event counts on three meters, each once, whatever is killed and however often it is sent', async () => {
  const productRef = await createCappedProduct(client, limit)
  const customers = ['u-1', 'u-2', 'u-3', 'u-4']
  for (const customer of customers) {
    await createCustomer(client, customer)
    await client.checkLimit(customer, productRef)
  }
  const references = new Map<string, string>()
  for (const { name, aggregation, ...reads } of meters) {
    const { where, value } = { where: undefined, value: undefined, ...reads }
    const meter = (await client.require('POST', '/v1/ui/meters', {
      name,
      aggregation,
      event: { type: 'llm.call', ...(where && { where }) },
      ...(value && { value }),
      dimensions: ['model'],
    })) as { reference: string }
    references.set(name, meter.reference)
  }
  // Ingest uses the meters that it has read for up to a second.
  await sleep(1_500)

  const events = Array.from({ length: eventTotal }, (_, number) =>
    eventAt(number, productRef, customers),
  )
  // Each event is sent again after 200 others.
  const order = events.flatMap((event, number) =>
    number < 200 ? [event] : [event, events[number - 200]!],
  )
  order.push(...events.slice(-200))
  const kills = new Map([
    [200, 'aggregator-counters'],
    [500, 'aggregator-sink'],
    [800, 'ingest'],
    [1_200, 'aggregator-counters'],
    [1_400, 'aggregator-sink'],
  ])
  const results = new Map<object, Result[]>()
  let next = 0
  const caller = async (): Promise<void> => {
    while (next < order.length) {
      const at = next++
      const killed = kills.get(at)
      if (killed !== undefined) await kill(killed)
      const event = order[at]!
      const result = await send(event)
      results.set(event, [...(results.get(event) ?? []), result])
    }
  }
  await Promise.all(Array.from({ length: callersMax }, caller))

  for (const event of events) {
    const [one, other] = results.get(event)!
    expect(one!.reference).toBe(other!.reference)
    // A request that was answered by a killed process is sent again, so both answers may be of duplicates.
    expect([one, other].filter((each) => each!.counts.length > 0).length).toBeLessThanOrEqual(1)
  }
  expect(new Set([...results.values()].map(([one]) => one!.reference)).size).toBe(eventTotal)

  for (const customerRef of customers) {
    const expected = expectedOf(events, customerRef)
    const { remaining } = await client.checkLimit(customerRef, productRef)
    expect(remaining).toBe(limit)
    const range = { from: '2026-01-01', to: '2100-01-01', customerRef }
    // After a kill the sink may need longer to store what was accepted than one request waits.
    const usageOf = (name: string) =>
      requestWithRetries(() => client.meterUsage(references.get(name)!, range))
    expect(await usageOf('tokens')).toMatchObject({
      total: Number(expected.tokens) / 1e6,
      count: expected.records,
    })
    const large = Number(expected.large_calls) / 1e6
    expect(await usageOf('large_calls')).toMatchObject({ total: large, count: large })
    expect(await usageOf('readers')).toMatchObject({
      total: expected.readers.size,
      count: expected.records,
    })
    const [tokens, calls, readers] = await readCounted(customerRef, productRef)
    expect([tokens, calls]).toEqual([expected.tokens, expected.large_calls])
    expect(readers).toBe(BigInt(expected.records) * 1_000_000n)
  }
}, 240_000)

/** Returns what the counters have for each of the meters, in 10^-6 units. The limit check before waits for the counters. */
async function readCounted(customerRef: string, scope: string): Promise<bigint[]> {
  const { providerId } = (await client.require('GET', ownKeyPath, undefined)) as {
    providerId: string
  }
  const subject = subjectKey(providerId, customerRef)
  const partition = partitionOf(subject, partitionCount)
  const hotState = await openLmdbHotState({ folder: dataFolderAt(folder.path).hot, role: 'reader' })
  try {
    const sums: bigint[] = []
    for (const { name } of meters) {
      const { amounts } = await hotState.readEntry(
        { space: 'sandbox', partition, subject, scope },
        name,
      )
      sums.push([...amounts.values()].reduce((sum, amount) => sum + amount, 0n))
    }
    return sums
  } finally {
    await hotState.close()
  }
}
