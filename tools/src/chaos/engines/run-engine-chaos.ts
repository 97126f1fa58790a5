import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createMeasuredProduct } from '../../client/measured-product.ts'
import { createSeededRandom, type SeededRandom } from '../../client/seeded-random.ts'
import { createTollgateClient, type TollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { stopRecorded } from '../../engines/stop-recorded.ts'
import { killDescendants } from '../../instance/process-tree.ts'
import { watchLimits, type LimitWatch } from '../limit-watch.ts'
import { startLoad, type Load } from '../../load/usage-load.ts'
import { createLogReading, type LogTotals, type ReadLog } from '../read-log.ts'
import { startChaosEngines, type ChaosEngines } from './chaos-engines.ts'
import { startChaosServices, type ChaosServices } from './chaos-services.ts'
import { totalOf, type CustomerSums, type TotalSums } from './engine-sums.ts'
import { openEngineStores } from './engine-stores.ts'
import { faults, sessionTimeoutMs, type World } from './faults.ts'
import { readEngineSums } from './read-engine-sums.ts'
import { readUntilExact, type SumsOutcome } from './read-until-exact.ts'
import { createUntilCounted } from './until-counted.ts'

export type EngineRound = {
  readonly fault: string
  /** What was hit, and how long it took. */
  readonly detail: string
  /** From the fault until every request sent before or during it had its answer. */
  readonly answeredAfterMs: number
  /** The longest time in which nothing was acknowledged. */
  readonly longestGapMs: number
  readonly retries: number
  /** Limit checks between the fault and the end of its damage. */
  readonly limitChecks: { readonly asked: number; readonly answered: number }
  /** Answers of the whole round that cannot be, and refusals of what was in order; one line each. */
  readonly untrue: readonly string[]
  readonly sums: readonly CustomerSums[]
  /** What the log has of all customers. */
  readonly logged: LogTotals
  /** What differs; one line each. */
  readonly differences: readonly string[]
}

export type EngineChaosOptions = {
  readonly folder: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly seed: number
  /** Names of faults; one round each, in this order. */
  readonly plan: readonly string[]
  readonly lanes: number
  readonly customers: number
  readonly patienceMs: number
  readonly clickHouseAwayMs: number
  readonly countersStoppedMs: number
  readonly say: (line: string) => void
  onFault(fault: string, number: number): void
  onRound(round: EngineRound, number: number): void
}

export type EngineChaos = {
  /** Rejects when a sum cannot be read or something did not come back. */
  readonly rounds: Promise<readonly EngineRound[]>
  /** Ends every process of the run. Safe at any moment, and after the rounds. */
  end(): Promise<void>
}

const partitionCount = 4
const strikeAfterMs = { min: 50, max: 2_500 }
const loadAfterMsMax = 500
const restMsMax = 20

/**
 * Under a load that never stops: one fault, until all that was hurt runs again, then a moment more of load; then it is
 * held and the sums are compared. They run over all rounds, so what one lost no later one can hide.
 */
export function startEngineChaos(options: EngineChaosOptions): EngineChaos {
  const started: { services?: ChaosServices } = {}
  return {
    rounds: run(options, started),
    async end() {
      // Nobody starts the services again then; and what is only starting now is below us as well.
      await started.services?.kill()
      // PostgreSQL frees the memory that it shares with nobody else only when it is asked to end.
      await stopRecorded(join(options.folder, 'engines', 'postgres'))
      await killDescendants()
    },
  }
}

async function run(
  options: EngineChaosOptions,
  started: { services?: ChaosServices },
): Promise<readonly EngineRound[]> {
  const { folder, say } = options
  const engines = await startChaosEngines(join(folder, 'engines'), say)
  say('Tollgate: starting, two processes of each service ...')
  const services = await startChaosServices({
    dataDir: join(folder, 'tollgate'),
    port: 0,
    environment: {
      ...options.environment,
      ...engines.environment,
      TOLLGATE_LOG_PARTITIONS: String(partitionCount),
      TOLLGATE_KAFKA_SESSION_TIMEOUT_MS: String(sessionTimeoutMs),
      // Who is suspended here is to go on, not to be killed for it.
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
    // Shorter than a process is suspended for: the clients go elsewhere, and what they leave behind goes on later.
    timeoutMs: 5_000,
  })
}

type Scene = {
  readonly load: Load
  /** Of usage that was in order. */
  readonly refusals: Set<string>
  readonly watch: LimitWatch
  /** Of every customer. */
  readonly readSums: () => Promise<readonly CustomerSums[]>
  readonly readLog: ReadLog
  readonly world: World
  readonly random: SeededRandom
}

async function runRounds(
  options: EngineChaosOptions,
  engines: ChaosEngines,
  services: ChaosServices,
  clients: readonly TollgateClient[],
): Promise<readonly EngineRound[]> {
  const [client] = clients as [TollgateClient]
  const ofLoad = createSeededRandom(options.seed + 1)
  const run = Date.now().toString(36)
  const { productRef, meterRef, customerRefs } = await createMeasuredProduct(
    client,
    run,
    options.customers * 2,
  )
  const { sandboxKey, environment } = services
  const stores = await openEngineStores({ sandboxKey, productRef, environment, partitionCount })
  const refusals = new Set<string>()
  const load = startLoad({
    clients,
    random: ofLoad,
    run,
    productRef,
    customerRefs: customerRefs.slice(0, options.customers),
    lanes: options.lanes,
    unkeyed: { customerRefs: customerRefs.slice(options.customers), lanes: options.lanes / 2 },
    restMsMax,
    onRefusal: (error) => void refusals.add(`usage was refused: ${error.message}`),
  })
  const watch = watchLimits({ clients, random: ofLoad, productRef, ledgers: load.ledgers })
  const ledgers = [
    ...load.ledgers.map((ledger) => ({ ledger, isKeyed: true })),
    ...load.unkeyedLedgers.map((ledger) => ({ ledger, isKeyed: false })),
  ]
  const scene: Scene = {
    load,
    refusals,
    watch,
    readSums: () =>
      readEngineSums(
        { client, stores, productRef, meterRef, customersAtOnce: ledgers.length },
        ledgers,
      ),
    readLog: createLogReading(environment, options.folder, productRef),
    world: {
      engines,
      services,
      clickHouseAwayMs: options.clickHouseAwayMs,
      countersStoppedMs: options.countersStoppedMs,
      untilCountedInRedis: createUntilCounted(stores, load.ledgers, options.patienceMs),
    },
    // The load draws whenever an answer comes: from another source, so that the same seed has the same moments.
    random: createSeededRandom(options.seed),
  }
  const rounds: EngineRound[] = []
  // What fails here ends the run: nobody waits for the clients then, who go on asking for minutes.
  for (const fault of options.plan) {
    options.onFault(fault, rounds.length + 1)
    const round = await runRound(scene, fault, options.patienceMs)
    rounds.push(round)
    options.onRound(round, rounds.length)
    load.resume()
  }
  await watch.stop()
  await load.stop()
  await stores.close()
  return rounds
}

async function runRound(
  { load, refusals, watch, readSums, readLog, world, random }: Scene,
  fault: string,
  patienceMs: number,
): Promise<EngineRound> {
  await sleep(random.integer(strikeAfterMs.min, strikeAfterMs.max))
  const before = watch.take()
  const struckAtMs = performance.now()
  const detail = await faults[fault]!(world, random)
  const meanwhile = watch.take()
  await sleep(random.integer(0, loadAfterMsMax))
  await load.pause()
  const answeredAfterMs = performance.now() - struckAtMs
  const longestGapMs = load.takeLongestGapMs()
  const { sums, differences }: SumsOutcome = await readUntilExact(readSums, patienceMs)
  const logged = await readLog()
  const stored = totalOf(sums)
  const isLogged = logged.units === stored.stored && logged.records === stored.storedRecords
  const untrue = [before, meanwhile, watch.take()].flatMap((counts) => counts.untrue)
  untrue.push(...refusals)
  refusals.clear()
  return {
    fault,
    detail,
    answeredAfterMs,
    longestGapMs,
    retries: load.retries(),
    limitChecks: meanwhile,
    untrue,
    sums,
    logged,
    differences: isLogged ? differences : [...differences, logDifference(logged, stored)],
  }
}

function logDifference({ units, records }: LogTotals, stored: TotalSums): string {
  return `the log has ${units} units (${records} records), ClickHouse ${stored.stored} (${stored.storedRecords})`
}
