import { setTimeout as sleep } from 'node:timers/promises'
import { createChargedProduct } from '../client/charged-product.ts'
import { createMeasuredProduct } from '../client/measured-product.ts'
import { createSeededRandom, type SeededRandom } from '../client/seeded-random.ts'
import { createTollgateClient, type TollgateClient } from '@tollgate/deploy/client/tollgate-client'
import type { InstanceOptions } from '../instance/instance.ts'
import { causeFault, losesHotState, totalKills, type FaultContext } from './faults.ts'
import { InstallationUnderTest } from './installation-under-test.ts'
import { unlessAborted } from '@tollgate/platform/waiting/unless-aborted'
import { watchLimits, type LimitWatch } from './limit-watch.ts'
import { ChargedLoad } from '../load/charged-load.ts'
import { startLoad, type Load } from '../load/usage-load.ts'
import { findChargedDifferences } from './read-charged-sums.ts'
import { createLogReading } from './read-log.ts'
import { readSums } from './read-sums.ts'
import { sumsAgree, type Sums } from './sums.ts'

export type Round = {
  readonly fault: string
  /** Short description of what was affected. */
  readonly detail: string
  /** Milliseconds from the start of the load to the fault. */
  readonly faultAfterMs: number
  /** Milliseconds from the fault until every request sent before or during it was answered. */
  readonly answeredAfterMs: number
  readonly retries: number
  /** Number of kills since the start of the run. */
  readonly kills: number
  readonly limitChecks: { readonly attempted: number; readonly answered: number }
  /** Incorrect answers to limit checks, one line each. */
  readonly problems: readonly string[]
  readonly sums: Sums
  /** Number of records with several charges that were acknowledged. */
  readonly chargedRecords: number
  /** Customers whose usage with several charges differs between the places, one line each. */
  readonly chargedDifferences: readonly string[]
  readonly isExact: boolean
}

export type ChaosOptions = {
  readonly instance: InstanceOptions
  readonly seed: number
  /** Names of faults. Each is one round, in this order. */
  readonly plan: readonly string[]
  readonly lanes: number
  readonly customers: number
  readonly countersStoppedMs: number
  /** Milliseconds in which the sums of a round must be readable and reach the acknowledged units. */
  readonly timeoutMs: number
  /** Ends the run and all its processes, and rejects with the signal's reason. */
  readonly signal?: AbortSignal
  onRound(round: Round, number: number): void
}

const faultDelayMs = { min: 50, max: 2_500 }
const loadAfterMsMax = 500
/** Metadata long enough to fill a segment of the log after some thousand records. */
const metadata = { note: 'n'.repeat(500) }

/**
 * Runs the rounds under continuous load. A round is one fault, the wait until everything is running again, and a moment more of
 * load. Then the load is paused and the sums are compared. Limits are checked all the time. The sums cover all rounds, so a later
 * round cannot hide a loss. Rejects with a SumsUnreadableError if there is nothing to compare.
 */
export async function runChaos(options: ChaosOptions): Promise<readonly Round[]> {
  const instance: InstanceOptions = {
    ...options.instance,
    // Suspended counters must continue later, so the supervisor must not kill them.
    environment: { ...options.instance.environment, TOLLGATE_HUNG_AFTER_SECONDS: '86400' },
  }
  const installation = await InstallationUnderTest.start(instance)
  const { baseUrl, sandboxKey: key } = installation.credentials
  const connectionsMax = options.lanes + options.customers * 2 + 2
  const client = createTollgateClient({ baseUrl, key, connectionsMax, timeoutMs: 20_000 })
  const rounds: Round[] = []
  try {
    const work = runRounds(options, installation, client, rounds)
    await (options.signal === undefined ? work : unlessAborted(work, options.signal))
    await installation.stop()
  } catch (error) {
    // The installation may no longer be able to stop in order, and an error of the stop would hide this error.
    await installation.end()
    throw error
  } finally {
    client.close()
  }
  return rounds
}

type RoundContext = {
  readonly faultContext: FaultContext
  readonly random: SeededRandom
  readonly load: Load
  readonly watch: LimitWatch
  readonly read: () => Promise<Sums>
  readonly charged: ChargedLoad
  readonly readCharged: (wasHotStateLost: boolean) => Promise<string[]>
}

const chargedCustomersOfEach = 2

async function runRounds(
  options: ChaosOptions,
  installation: InstallationUnderTest,
  client: TollgateClient,
  rounds: Round[],
): Promise<void> {
  // The load has its own random source, because it draws at times that depend on answers. With the same seed, the faults come at
  // the same moments.
  const loadRandom = createSeededRandom(options.seed + 1)
  const run = Date.now().toString(36)
  const product = await createMeasuredProduct(client, run, options.customers)
  const { productRef } = product
  const { lanes, timeoutMs, countersStoppedMs } = options
  const { dataDir, environment } = options.instance
  const chargedProduct = await createChargedProduct(client, run, chargedCustomersOfEach)
  const charged = new ChargedLoad(chargedProduct)
  const readLog = createLogReading(environment, dataDir, productRef, chargedProduct)
  const load = startLoad({
    clients: [client],
    random: loadRandom,
    run,
    ...product,
    lanes,
    metadata,
    charged,
  })
  const { ledgers } = load
  const watch = watchLimits({ clients: [client], random: loadRandom, productRef, ledgers })
  const read = (): Promise<Sums> => readSums({ client, ...product, readLog, timeoutMs }, ledgers)
  const waitUntilStored = async (): Promise<void> => {
    await load.pause()
    await read()
    load.resume()
  }
  const faultContext: FaultContext = { installation, countersStoppedMs, timeoutMs, waitUntilStored }
  const scene: RoundContext = {
    faultContext,
    random: createSeededRandom(options.seed),
    load,
    watch,
    read,
    charged,
    readCharged: (wasHotStateLost) =>
      findChargedDifferences({
        wasHotStateLost,
        ...{ client, product: chargedProduct, ledgers: charged.ledgers, readLog, timeoutMs },
        readEnvironment: () => installation.environment(),
      }),
  }
  let wasHotStateLost = false
  for (const fault of options.plan) {
    wasHotStateLost ||= losesHotState(fault)
    const round = await runRound(scene, fault, wasHotStateLost)
    rounds.push(round)
    options.onRound(round, rounds.length)
    load.resume()
  }
  await watch.stop()
  await load.stop()
}

async function runRound(
  { faultContext, random, load, watch, read, charged, readCharged }: RoundContext,
  fault: string,
  wasHotStateLost: boolean,
): Promise<Round> {
  const faultAfterMs = random.integer(faultDelayMs.min, faultDelayMs.max)
  await sleep(faultAfterMs)
  const faultAtMs = Date.now()
  const { detail, undo } = await causeFault(fault, faultContext, random)
  await sleep(random.integer(0, loadAfterMsMax))
  await load.pause()
  const answeredAfterMs = Date.now() - faultAtMs
  const sums = await read()
  const chargedDifferences = await readCharged(wasHotStateLost)
  undo?.()
  const { attempted, answered, problems } = watch.take()
  return {
    fault,
    detail,
    faultAfterMs,
    answeredAfterMs,
    retries: load.retries(),
    kills: totalKills(faultContext.installation),
    limitChecks: { attempted, answered },
    problems,
    sums,
    chargedRecords: charged.ledgers.reduce((sum, { acked }) => sum + acked.records, 0),
    chargedDifferences,
    isExact: sumsAgree(sums) && problems.length === 0 && chargedDifferences.length === 0,
  }
}
