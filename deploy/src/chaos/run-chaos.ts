import { setTimeout as sleep } from 'node:timers/promises'
import { createSeededRandom, type SeededRandom } from '../client/seeded-random.ts'
import { createTollgateClient } from '../client/tollgate-client.ts'
import { startInstance, type Instance, type InstanceOptions } from '../instance/instance.ts'
import { killProcess } from '../instance/process-tree.ts'
import { createMeasuredProduct } from '../client/measured-product.ts'
import { unlessAborted } from './interruption.ts'
import { startLoad, type Load } from './load.ts'
import { readSums, type SumsContext } from './read-sums.ts'
import { sumsAgree, type Sums } from './sums.ts'

/** The whole tree, or one service by its name. */
export type Victim = 'tree' | (string & {})

export type Round = {
  readonly victim: Victim
  /** From the start of the load to the kill. */
  readonly killedAfterMs: number
  /** From the kill until every request sent before or during it had its answer. */
  readonly answeredAfterMs: number
  readonly retries: number
  readonly sums: Sums
  readonly isExact: boolean
}

export type ChaosOptions = {
  readonly instance: InstanceOptions
  readonly seed: number
  /** One round each, in this order. */
  readonly victims: readonly Victim[]
  readonly lanes: number
  readonly customers: number
  /** How long the sums of a round may take to be read and to reach what was acked. */
  readonly patienceMs: number
  /** Ends the run, and all its processes, with its reason. */
  readonly signal?: AbortSignal
  onRound(round: Round, number: number): void
}

const killAfterMsMin = 50
const killAfterMsMax = 2_500
const loadAfterMsMax = 500

/**
 * Under a load that never stops: kill, let everything come back, let the load go on for a moment, then hold it and
 * compare. The sums run over all rounds, so what one round lost no later one can hide. Rejects with a
 * SumsUnreadableError when there is nothing to compare.
 */
export async function runChaos(options: ChaosOptions): Promise<readonly Round[]> {
  const random = createSeededRandom(options.seed)
  // Of their own, as they draw whenever an answer comes: the moments must be the same with the same seed.
  const ofLoad = createSeededRandom(options.seed + 1)
  let instance = await startInstance(options.instance)
  const { baseUrl, sandboxKey } = instance.credentials
  const connectionsMax = options.lanes + options.customers * 2
  const client = createTollgateClient({
    baseUrl,
    key: sandboxKey,
    connectionsMax,
    timeoutMs: 20_000,
  })
  const rounds: Round[] = []
  const runRounds = async (): Promise<void> => {
    const run = Date.now().toString(36)
    const product = await createMeasuredProduct(client, run, options.customers)
    const load = startLoad({
      clients: [client],
      random: ofLoad,
      run,
      ...product,
      lanes: options.lanes,
    })
    for (const victim of options.victims) {
      const killedAfterMs = random.integer(killAfterMsMin, killAfterMsMax)
      await sleep(killedAfterMs)
      const killedAtMs = Date.now()
      instance = await kill(instance, victim, options.instance)
      const context = { client, ...product, patienceMs: options.patienceMs }
      const round = await compare(load, random, context, victim, killedAtMs)
      rounds.push({ ...round, killedAfterMs })
      options.onRound({ ...round, killedAfterMs }, rounds.length)
      load.resume()
    }
    await load.stop()
  }
  try {
    await unlessAborted(options.signal, runRounds())
    await instance.stop()
  } catch (error) {
    // An orderly stop may be more than it can still do, and its failure would hide this one.
    await instance.kill()
    throw error
  } finally {
    client.close()
  }
  return rounds
}

/** The tree is started again here; a single service by its supervisor. */
async function kill(
  instance: Instance,
  victim: Victim,
  options: InstanceOptions,
): Promise<Instance> {
  if (victim === 'tree') {
    await instance.kill()
    return startInstance(options)
  }
  const { processes } = await instance.runFile()
  const pid = processes[victim]
  if (pid === undefined) {
    throw new Error(`No service ${victim}; there are ${Object.keys(processes).join(', ')}`)
  }
  killProcess(pid)
  return instance
}

async function compare(
  load: Load,
  random: SeededRandom,
  context: SumsContext,
  victim: Victim,
  killedAtMs: number,
): Promise<Omit<Round, 'killedAfterMs'>> {
  await sleep(random.integer(0, loadAfterMsMax))
  await load.pause()
  const answeredAfterMs = Date.now() - killedAtMs
  const sums = await readSums(context, load.ledgers)
  return { victim, answeredAfterMs, retries: load.retries(), sums, isExact: sumsAgree(sums) }
}
