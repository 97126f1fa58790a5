import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTollgateClient, type TollgateClient } from '@tollgate/deploy/client/tollgate-client'
import type { Instance } from '../../instance/instance.ts'
import { processOf } from '../../instance/process-of.ts'
import { compareServers, type ComparisonResult } from '../compare-servers.ts'
import { measureProjections, type ProjectionRate } from '../measure-projections.ts'
import type { WrkLoad } from '../wrk.ts'

export type ChargesOptions = {
  readonly seconds: number
  readonly repeats: number
  readonly backlog: number
}

type Projections = Readonly<Record<'counters' | 'sink', ProjectionRate>>

/** The cost of an event that counts on five meters with charges, beside one that counts on one. */
export type ChargesResult = {
  /** Ingest with one charge as the ceiling, and with five. The projections are stopped. */
  readonly ingest: ComparisonResult
  readonly one: Projections
  readonly five: Projections
}

const measuredCustomers = 100
const connections = 64
const bodyCount = 1_000
/** Ingest reads new meters at most a second after their creation. */
const metersKnownMs = 2_000
const logConsumers = ['aggregator-counters', 'aggregator-sink', 'chdb-gateway']

/**
 * A product whose plan has a charge for each meter on which a meter event counts. Meter events need no idempotency key, so the same
 * bodies can be sent again.
 */
type ChargedProduct = {
  /** The meter that the events name. */
  readonly meterName: string
  readonly productRef: string
  readonly customerRefs: readonly string[]
}

export async function measureCharges(
  instance: Instance,
  folder: string,
  { seconds, repeats, backlog }: ChargesOptions,
  print: (line: string) => void,
): Promise<ChargesResult> {
  const { baseUrl, sandboxKey: key } = instance.credentials
  const client = createTollgateClient({ baseUrl, key, connectionsMax: 16, timeoutMs: 60_000 })
  try {
    const one = await createChargedProduct(client, 1)
    const five = await createChargedProduct(client, 5)
    await sleep(metersKnownMs)
    const runFile = await instance.runFile()
    const project = async (product: ChargedProduct): Promise<Projections> => {
      const send = (size: number): Promise<unknown> =>
        client.require('POST', '/v1/sdk/meter-events/bulk', { events: eventsOf(product, size) })
      return measureProjections({ client, runFile, ...product, records: backlog, send })
    }
    print('measuring the projections of events with one charge ...')
    const oneProjected = await project(one)
    print('measuring the projections of events with five charges ...')
    const fiveProjected = await project(five)
    print('measuring ingest of events with one charge and with five ...')
    const load = async (product: ChargedProduct): Promise<WrkLoad> => {
      const bodiesFile = join(folder, `${product.meterName}.jsonl`)
      const events = eventsOf(product, bodyCount)
      await writeFile(bodiesFile, events.map((event) => JSON.stringify(event)).join('\n') + '\n')
      const url = `${baseUrl}/v1/sdk/meter-events`
      return { url, pid: processOf(runFile, 'ingest'), bodiesFile, key, connections, seconds }
    }
    const loads = { ceiling: await load(one), ours: await load(five) }
    const pids = logConsumers.flatMap((name) => runFile.processes[name] ?? [])
    for (const pid of pids) process.kill(pid, 'SIGSTOP')
    try {
      const [ingest] = await compareServers([loads], repeats)
      return { ingest: ingest!, one: oneProjected, five: fiveProjected }
    } finally {
      for (const pid of pids) process.kill(pid, 'SIGCONT')
    }
  } finally {
    client.close()
  }
}

const values = ['input', 'cached', 'output', 'tools'] as const

/** Creates meters, a plan with as many charges, and customers of the plan. */
async function createChargedProduct(
  client: TollgateClient,
  charges: number,
): Promise<ChargedProduct> {
  const run = `${charges}_${Date.now().toString(36)}`
  const meterName = `calls_${run}`
  const names = [meterName]
  await client.require('POST', '/v1/ui/meters', { name: meterName, aggregation: 'sum' })
  for (const value of values.slice(0, charges - 1)) {
    const name = `${value}_${run}`
    const reads = { event: { type: meterName }, value: `/usage/${value}`, dimensions: ['model'] }
    await client.require('POST', '/v1/ui/meters', { name, ...reads })
    names.push(name)
  }
  const { reference: productRef } = await client.createProduct({ name: `Measured ${run}` })
  await client.createPlan(productRef, {
    ...{ name: 'Metered', type: 'usage-based', billingModel: 'post-paid' },
    ...{ billingCycle: 'monthly', default: true },
    charges: names.map((meter) => ({ meter, price: '0.0003' })),
  })
  const [plan] = await client.listPlans(productRef)
  const customerRefs: string[] = []
  for (let number = 0; number < measuredCustomers; number++) {
    const email = `charged_${run}_${number}@measured.example`
    const { reference: customerRef } = await client.createCustomer({ email })
    await client.require('POST', '/v1/sdk/activate', {
      ...{ customerRef, productRef, planRef: plan!.reference },
    })
    customerRefs.push(customerRef)
  }
  return { meterName, productRef, customerRefs }
}

/** Returns events with the same properties for every product, so that only the number of counts differs. */
function eventsOf(
  { meterName, productRef, customerRefs }: ChargedProduct,
  count: number,
): object[] {
  return Array.from({ length: count }, (_, at) => ({
    customerRef: customerRefs[at % customerRefs.length],
    ...{ productRef, meterName, value: 1 },
    properties: {
      model: `model-${at % 3}`,
      usage: { input: 800 + (at % 100), cached: at % 50, output: 300 + (at % 40), tools: at % 4 },
      requestId: `request-${at}`,
    },
  }))
}
