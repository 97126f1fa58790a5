import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createChargedProduct } from '../../client/charged-product.ts'
import { createMeasuredProduct } from '../../client/measured-product.ts'
import { createSeededRandom, type SeededRandom } from '../../client/seeded-random.ts'
import { createTollgateClient, type TollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { endRun } from '../end-run.ts'
import { watchLimits, type LimitWatch } from '../limit-watch.ts'
import { ChargedLoad } from '../../load/charged-load.ts'
import { startLoad, type Load } from '../../load/usage-load.ts'
import { findChargedDifferences } from '../read-charged-sums.ts'
import { createLogReading, type LogTotals, type ReadLog } from '../read-log.ts'
import { startChaosEngines, type ChaosEngines } from './chaos-engines.ts'
import { startChaosServices, type ChaosServices } from './chaos-services.ts'
import { totalOf, type CustomerSums, type TotalSums } from './engine-sums.ts'
import { openEngineStores } from './engine-stores.ts'
import { faults, losesHotState, sessionTimeoutMs, type FaultContext } from './faults.ts'
import { readEngineSums } from './read-engine-sums.ts'
import { readUntilExact, type SumsOutcome } from './read-until-exact.ts'
import { createCountedWait } from './create-counted-wait.ts'

export type EngineRound = {
  readonly fault: string
  /** What was affected, and how long it took. */
  readonly detail: string
  /** Milliseconds from the fault until every request sent before or during it was answered. */
  readonly answeredAfterMs: number
  /** Longest time without an acknowledgement, in milliseconds. */
  readonly longestGapMs: number
  readonly retries: number
  /** Limit checks between the fault and the end of its effects. */
  readonly limitChecks: { readonly attempted: number; readonly answered: number }
  /** Incorrect answers and refusals of valid requests in the whole round, one line each. */
  readonly problems: readonly string[]
  readonly sums: readonly CustomerSums[]
  /** Totals of all customers in the log. */
  readonly logged: LogTotals
  /** Number of records with several charges that were acknowledged. */
  readonly chargedRecords: number
  /** One line for each difference. */
  readonly differences: readonly string[]
}

export type EngineChaosOptions = {
  readonly folder: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly seed: number
  /** Names of faults. Each is one round, in this order. */
  readonly plan: readonly string[]
  readonly lanes: number
  readonly customers: number
  readonly timeoutMs: number
  readonly clickHouseAwayMs: number
  readonly countersStoppedMs: number
  readonly print: (line: string) => void
  onFault(fault: string, number: number): void
  onRound(round: EngineRound, number: number): void
}

export type EngineChaos = {
  /** Rejects if a sum cannot be read or a process did not start again. */
  readonly rounds: Promise<readonly EngineRound[]>
  /** Ends every process of the run. It may be called at any moment, including after the rounds. */
  end(): Promise<void>
}

const partitionCount = 4
const faultDelayMs = { min: 50, max: 2_500 }
const loadAfterMsMax = 500
const restMsMax = 20
const chargedCustomersOfEach = 2

/**
 * Runs the rounds under continuous load. A round is one fault, the wait until everything affected is running again, and a moment
 * more of load. Then the load is paused and the sums are compared. The sums cover all rounds, so a later round cannot hide a loss.
 */
export function startEngineChaos(options: EngineChaosOptions): EngineChaos {
  const started: { services?: ChaosServices } = {}
  return {
    rounds: run(options, started),
    end: () => endRun(options.folder, started.services),
  }
}

async function run(
  options: EngineChaosOptions,
  started: { services?: ChaosServices },
): Promise<readonly EngineRound[]> {
  const { folder, print } = options
  const engines = await startChaosEngines(join(folder, 'engines'), print)
  print('Tollgate: starting, two processes of each service ...')
  const services = await startChaosServices({
    dataDir: join(folder, 'tollgate'),
    port: 0,
    environment: {
      ...options.environment,
      ...engines.environment,
      TOLLGATE_LOG_PARTITIONS: String(partitionCount),
      TOLLGATE_KAFKA_SESSION_TIMEOUT_MS: String(sessionTimeoutMs),
      // Suspended processes must continue later, so the supervisor must not kill them.
      TOLLGATE_HUNG_AFTER_SECONDS: '86400',
    },
  })
  started.services = services
  const clients = services.baseUrls.map((baseUrl) => newClient(options, baseUrl, services))
  try {
    const rounds = await runRounds(options, engines, services, clients)
    await services.stop()
    return rounds
  } finally {
    for (const client of clients) client.close()
  }
}

function newClient(
  { lanes, customers }: EngineChaosOptions,
  baseUrl: string,
  { sandboxKey: key }: ChaosServices,
): TollgateClient {
  return createTollgateClient({
    baseUrl,
    key,
    connectionsMax: lanes + customers * 4,
    // The timeout is shorter than the time for which a process is suspended. Clients then use another process, and the suspended
    // one later continues with the abandoned requests.
    timeoutMs: 5_000,
  })
}

type RoundContext = {
  readonly load: Load
  /** Refusals of valid usage. */
  readonly refusals: Set<string>
  readonly watch: LimitWatch
  /** Reads the sums of every customer. */
  readonly readSums: () => Promise<readonly CustomerSums[]>
  readonly readLog: ReadLog
  readonly charged: ChargedLoad
  readonly readCharged: (wasHotStateLost: boolean) => Promise<string[]>
  readonly faultContext: FaultContext
  readonly random: SeededRandom
}

async function runRounds(
  options: EngineChaosOptions,
  engines: ChaosEngines,
  services: ChaosServices,
  clients: readonly TollgateClient[],
): Promise<readonly EngineRound[]> {
  const [client] = clients as [TollgateClient]
  const loadRandom = createSeededRandom(options.seed + 1)
  const run = Date.now().toString(36)
  const { productRef, meterRef, customerRefs } = await createMeasuredProduct(
    client,
    run,
    options.customers * 2,
  )
  const chargedProduct = await createChargedProduct(client, run, chargedCustomersOfEach)
  const charged = new ChargedLoad(chargedProduct)
  const { sandboxKey, environment } = services
  const stores = await openEngineStores({ sandboxKey, productRef, environment, partitionCount })
  const refusals = new Set<string>()
  const load = startLoad({
    clients,
    random: loadRandom,
    run,
    productRef,
    customerRefs: customerRefs.slice(0, options.customers),
    lanes: options.lanes,
    unkeyed: { customerRefs: customerRefs.slice(options.customers), lanes: options.lanes / 2 },
    charged,
    restMsMax,
    onRefusal: (error) => void refusals.add(`usage was refused: ${error.message}`),
  })
  const watch = watchLimits({ clients, random: loadRandom, productRef, ledgers: load.ledgers })
  const ledgers = [
    ...load.ledgers.map((ledger) => ({ ledger, isKeyed: true })),
    ...load.unkeyedLedgers.map((ledger) => ({ ledger, isKeyed: false })),
  ]
  const { timeoutMs } = options
  const readLog = createLogReading(environment, options.folder, productRef, chargedProduct)
  const scene: RoundContext = {
    load,
    charged,
    readCharged: (wasHotStateLost) =>
      findChargedDifferences({
        wasHotStateLost,
        ...{ client, product: chargedProduct, ledgers: charged.ledgers, readLog, timeoutMs },
        readEnvironment: () => Promise.resolve(services.environment),
      }),
    refusals,
    watch,
    readSums: () =>
      readEngineSums(
        { client, stores, productRef, meterRef, customersAtOnce: ledgers.length },
        ledgers,
      ),
    readLog,
    faultContext: {
      engines,
      services,
      clickHouseAwayMs: options.clickHouseAwayMs,
      countersStoppedMs: options.countersStoppedMs,
      waitUntilCountedInRedis: createCountedWait(stores, load.ledgers, timeoutMs),
    },
    // The load has its own random source, because it draws at times that depend on answers. With the same seed, the faults come at
    // the same moments.
    random: createSeededRandom(options.seed),
  }
  const rounds = await playFaults(options, scene)
  await watch.stop()
  await load.stop()
  await stores.close()
  return rounds
}

async function playFaults(
  options: EngineChaosOptions,
  scene: RoundContext,
): Promise<readonly EngineRound[]> {
  const rounds: EngineRound[] = []
  let wasHotStateLost = false
  // A failure ends the run without waiting for the clients, which would repeat their requests for minutes.
  for (const fault of options.plan) {
    options.onFault(fault, rounds.length + 1)
    wasHotStateLost ||= losesHotState(fault)
    const round = await runRound(scene, fault, { timeoutMs: options.timeoutMs, wasHotStateLost })
    rounds.push(round)
    options.onRound(round, rounds.length)
    scene.load.resume()
  }
  return rounds
}

async function runRound(
  scene: RoundContext,
  fault: string,
  { timeoutMs, wasHotStateLost }: { readonly timeoutMs: number; readonly wasHotStateLost: boolean },
): Promise<EngineRound> {
  const { load, refusals, watch, readSums, readLog, faultContext, random } = scene
  await sleep(random.integer(faultDelayMs.min, faultDelayMs.max))
  const before = watch.take()
  const faultAtMs = performance.now()
  const detail = await faults[fault]!(faultContext, random)
  const meanwhile = watch.take()
  await sleep(random.integer(0, loadAfterMsMax))
  await load.pause()
  const answeredAfterMs = performance.now() - faultAtMs
  const longestGapMs = load.takeLongestGapMs()
  const { sums, differences }: SumsOutcome = await readUntilExact(readSums, timeoutMs)
  const chargedDifferences = await scene.readCharged(wasHotStateLost)
  const logged = await readLog()
  const stored = totalOf(sums)
  const isLogged = logged.units === stored.stored && logged.records === stored.storedRecords
  const problems = [before, meanwhile, watch.take()].flatMap((counts) => counts.problems)
  problems.push(...refusals)
  refusals.clear()
  return {
    fault,
    detail,
    answeredAfterMs,
    longestGapMs,
    retries: load.retries(),
    limitChecks: meanwhile,
    problems,
    sums,
    logged,
    chargedRecords: scene.charged.ledgers.reduce((sum, { acked }) => sum + acked.records, 0),
    differences: [
      ...differences,
      ...(isLogged ? [] : [logDifference(logged, stored)]),
      ...chargedDifferences,
    ],
  }
}

function logDifference({ units, records }: LogTotals, stored: TotalSums): string {
  return `the log has ${units} units (${records} records), ClickHouse ${stored.stored} (${stored.storedRecords})`
}
