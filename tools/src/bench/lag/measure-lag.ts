import { createMeasuredProduct } from '../../client/measured-product.ts'
import { createTollgateClient, type TollgateClient } from '@tollgate/deploy/client/tollgate-client'
import type { Instance } from '../../instance/instance.ts'
import { runLanes, times } from '../../load/lanes.ts'
import { waitUntilCaughtUp } from '../measure-projections.ts'
import { recordInLedgers, newLedger, type CustomerLedger } from '../../load/ledger.ts'
import { isCountCorrect, runCheckedLoad, type LoadResult } from '../lag/checked-load.ts'
import { MemoryWatch } from '../lag/memory-watch.ts'

export type LagOptions = {
  readonly seconds: number
  /** Number of records that the counters lag behind. */
  readonly backlog: number
  readonly callers: number
}

export type LagStage = LoadResult & {
  readonly name: string
  /** Maximum memory of ingest in MiB. */
  readonly memoryMiB: number
}

export type LagResult = {
  readonly stages: readonly LagStage[]
  readonly backlog: number
  readonly callers: number
  readonly ingestRestarts: number
  /** After the counters have caught up: number of customers whose limit check differs from the acknowledged units. */
  readonly wrongAtTheEnd: number
}

const customers = 500
const posters = 16
const bulkSize = 500
const bulkPosters = 4
const counters = 'aggregator-counters'

/**
 * Measures limit checks and usage posts in 3 stages: while the counters keep up, while they are stopped with a backlog, and while
 * they catch up. Each check is compared with the units acknowledged before it.
 */
export async function measureLag(
  instance: Instance,
  { seconds, backlog, callers }: LagOptions,
  print: (line: string) => void,
): Promise<LagResult> {
  const { baseUrl, sandboxKey: key } = instance.credentials
  const connectionsMax = callers + posters
  const client = createTollgateClient({ baseUrl, key, connectionsMax, timeoutMs: 30_000 })
  const memory = new MemoryWatch(async () => (await instance.runFile()).processes['ingest'])
  const { processes } = await instance.runFile()
  const pid = processes[counters]
  if (pid === undefined) throw new Error(`No process of ${counters} in the run file`)
  try {
    print('creating customers ...')
    const product = await createMeasuredProduct(client, Date.now().toString(36), customers)
    const { productRef, customerRefs } = product
    for (const customerRef of customerRefs) await client.checkLimit(customerRef, productRef)
    const ledgers = customerRefs.map(newLedger)
    const load = { client, productRef, ledgers, callers, posters, seconds }
    const stages: LagStage[] = []
    memory.start()
    const measure = async (name: string): Promise<void> => {
      print(`measuring with ${name} ...`)
      memory.takeMaximum()
      const result = await runCheckedLoad(load)
      stages.push({ name, ...result, memoryMiB: memory.takeMaximum().maximumMiB })
    }
    await measure('running counters')
    await waitUntilCaughtUp(await instance.runFile())
    process.kill(pid, 'SIGSTOP')
    try {
      await postBacklog(client, productRef, ledgers, backlog)
      await measure('stopped counters')
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await measure('counters that catch up')
    const { restarts } = memory.takeMaximum()
    await waitUntilCaughtUp(await instance.runFile())
    const wrongAtTheEnd = await countWrong(client, productRef, ledgers)
    return { stages, backlog, callers, ingestRestarts: restarts, wrongAtTheEnd }
  } finally {
    memory.stop()
    client.close()
  }
}

async function postBacklog(
  client: TollgateClient,
  productRef: string,
  ledgers: readonly CustomerLedger[],
  backlog: number,
): Promise<void> {
  let next = 0
  await runLanes(bulkPosters, times(Math.ceil(backlog / bulkSize)), () => {
    const number = next++
    const entries = Array.from({ length: bulkSize }, (_, at) => ({
      ledger: ledgers[(number * 7 + at) % ledgers.length]!,
      units: 1,
    }))
    const usages = entries.map(({ ledger: { customerRef } }, at) => ({
      customerRef,
      productRef,
      units: 1,
      // Half of the records have an idempotency key, so that clients can repeat them.
      ...(at % 2 === 0 ? { idempotencyKey: `backlog-${number}-${at}` } : {}),
    }))
    return recordInLedgers(entries, () => client.recordUsages(usages))
  })
}

async function countWrong(
  client: TollgateClient,
  productRef: string,
  ledgers: readonly CustomerLedger[],
): Promise<number> {
  let wrong = 0
  for (const ledger of ledgers) {
    if (!(await isCountCorrect(client, productRef, ledger))) wrong += 1
  }
  return wrong
}
