import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createMeasuredProduct } from '../../client/measured-product.ts'
import { createSeededRandom } from '../../client/seeded-random.ts'
import { createTollgateClient, type TollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { startInstance, type Instance } from '../../instance/instance.ts'
import { endRun } from '../end-run.ts'
import { formatCount } from '@tollgate/platform/terminal/table'
import { flushAll, startChaosEngines, type ChaosEngines } from '../engines/chaos-engines.ts'
import { findDifference, type CustomerSums } from '../engines/engine-sums.ts'
import { openEngineStores, type EngineStores } from '../engines/engine-stores.ts'
import { readEngineSums } from '../engines/read-engine-sums.ts'
import { createCountedWait } from '../engines/create-counted-wait.ts'
import { watchLimits, type LimitWatchCounts } from '../limit-watch.ts'
import type { CustomerLedger } from '../../load/ledger.ts'
import { createCustomers } from '../../load/create-customers.ts'
import { requestsInFlightMax, startSteadyLoad, type SteadyLoadCounts } from './steady-load.ts'
import { waitUntilRebuilt, type RebuildTimes } from './wait-until-rebuilt.ts'

export type FlushOptions = {
  readonly folder: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly seed: number
  readonly customers: number
  /** Events per second. */
  readonly rate: number
  /** Milliseconds of load before FLUSHALL, and after everything is rebuilt. */
  readonly beforeMs: number
  readonly afterMs: number
  /** TOLLGATE_REPLAY_RECORDS_MAX. With 0, the counts are rebuilt from ClickHouse. Otherwise a short log is counted again. */
  readonly replayRecordsMax: number
  readonly timeoutMs: number
  readonly print: (line: string) => void
}

/** Counts of one stretch of the run. */
export type Phase = { readonly load: SteadyLoadCounts; readonly limitChecks: LimitWatchCounts }

export type FlushOutcome = RebuildTimes & {
  /** Milliseconds that the first publication of all customers took, without load. */
  readonly firstPublishedMs: number
  readonly before: Phase
  /** From FLUSHALL until everything is published and counted. */
  readonly meanwhile: Phase
  readonly after: Phase
  /** Sums of every customer. */
  readonly sums: readonly CustomerSums[]
  /** One line for each customer whose sums differ. */
  readonly differences: readonly string[]
}

export type FlushRun = {
  /** Rejects if something was not rebuilt or cannot be read. */
  readonly outcome: Promise<FlushOutcome>
  /** Ends every process of the run. It may be called at any moment, including after the outcome. */
  end(): Promise<void>
}

const partitionCount = 4
/** Timeout of FLUSHALL. Redis frees its memory before it answers. */
const flushMs = 60_000
const checkLanes = 4
/** Number of customers that are compared concurrently at the end. */
const customersAtOnce = 32
const pollMs = 1_000
/** Milliseconds in which a record that is counted or stored twice would show. */
const recheckDelayMs = 2_000

/**
 * Starts an installation on the engines with many customers and a steady rate of events over all of them, and runs FLUSHALL once.
 * The load and the limit checks continue until everything is rebuilt and for some time after that. Then every customer is compared.
 */
export function startFlush(options: FlushOptions): FlushRun {
  const started: { instance?: Instance } = {}
  return {
    outcome: run(options, started),
    end: () => endRun(options.folder, started.instance),
  }
}

async function run(options: FlushOptions, started: { instance?: Instance }): Promise<FlushOutcome> {
  const { folder, print } = options
  const engines = await startChaosEngines(join(folder, 'engines'), print, 1)
  print('Tollgate: starting ...')
  const instance = await startInstance({
    dataDir: join(folder, 'tollgate'),
    port: 0,
    environment: {
      ...options.environment,
      ...engines.environment,
      TOLLGATE_LOG_PARTITIONS: String(partitionCount),
      TOLLGATE_REPLAY_RECORDS_MAX: String(options.replayRecordsMax),
    },
  })
  started.instance = instance
  const { baseUrl, sandboxKey } = instance.credentials
  const client = createTollgateClient({
    baseUrl,
    key: sandboxKey,
    connectionsMax: requestsInFlightMax + checkLanes,
    timeoutMs: 15_000,
  })
  const { productRef } = await createMeasuredProduct(client, Date.now().toString(36), 0)
  const stores = await openEngineStores({
    sandboxKey,
    productRef,
    environment: (await instance.runFile()).environment,
    partitionCount,
  })
  try {
    const databaseUrl = engines.environment['TOLLGATE_DATABASE_URL']!
    const made = await createCustomers(options, client, productRef, databaseUrl)
    const watched = await runLoad(options, engines, client, stores, productRef, made.ledgers)
    await waitUntilStored(stores, made.ledgers, options.timeoutMs)
    await sleep(recheckDelayMs)
    print('comparing every customer ...')
    const sums = await readEngineSums(
      { client, stores, productRef, customersAtOnce },
      made.ledgers.map((ledger) => ({ ledger, isKeyed: true })),
    )
    const differences = sums.map(findDifference).filter((line) => line !== undefined)
    const code = await instance.stop()
    if (code !== 0) throw new Error(`The installation stopped with exit code ${code}.`)
    return { firstPublishedMs: made.publishedMs, ...watched, sums, differences }
  } finally {
    client.close()
    await stores.close()
  }
}

type Watched = RebuildTimes & Pick<FlushOutcome, 'before' | 'meanwhile' | 'after'>

async function runLoad(
  options: FlushOptions,
  engines: ChaosEngines,
  client: TollgateClient,
  stores: EngineStores,
  productRef: string,
  ledgers: readonly CustomerLedger[],
): Promise<Watched> {
  const { rate, timeoutMs, print } = options
  const random = createSeededRandom(options.seed)
  const run = Date.now().toString(36)
  const load = startSteadyLoad({ client, random, run, productRef, ledgers, rate })
  const watch = watchLimits({ clients: [client], random, productRef, ledgers, lanes: checkLanes })
  const take = (): Phase => ({ load: load.take(), limitChecks: watch.take() })

  print(`${formatCount(rate)} events a second for ${options.beforeMs / 1000} s ...`)
  await sleep(options.beforeMs)
  const before = take()
  print('FLUSHALL')
  await flushAll(engines, flushMs)
  const whole = await waitUntilRebuilt(stores.hotState, partitionCount, timeoutMs, print)
  const meanwhile = take()
  await createCountedWait(stores, ledgers, timeoutMs)()
  await sleep(options.afterMs)
  const after = take()
  await watch.stop()
  await load.stop()
  return { ...whole, before, meanwhile, after }
}

async function waitUntilStored(
  stores: EngineStores,
  ledgers: readonly CustomerLedger[],
  timeoutMs: number,
): Promise<void> {
  const acked = ledgers.reduce((sum, { records }) => sum + records, 0)
  const deadline = performance.now() + timeoutMs
  while ((await stores.countStored()) < acked) {
    if (performance.now() > deadline) return
    await sleep(pollMs)
  }
}
