import { setTimeout as sleep } from 'node:timers/promises'
import { keepCopy } from '@tollgate/platform/chaos/older-copy'
import type { SeededRandom } from '../../client/seeded-random.ts'
import { partitionsShort } from '../../engines/kafka-question.ts'
import { askRedis } from '../../engines/redis-question.ts'
import { waitUntil } from '../../engines/wait-until.ts'
import { killProcess } from '../../instance/process-tree.ts'
import { brokerNames, type ChaosEngines, type EngineServerName } from './chaos-engines.ts'
import type { ChaosServices, ServiceName } from './chaos-services.ts'

export type World = {
  readonly engines: ChaosEngines
  readonly services: ChaosServices
  /** How long ClickHouse is away in its own round. */
  readonly clickHouseAwayMs: number
  /** How long all counters are stopped in their own round. */
  readonly countersStoppedMs: number
  /** Resolves once Redis holds, of every customer, all that was acknowledged before the call. */
  readonly untilCountedInRedis: () => Promise<void>
}

/** Does its damage, and resolves when all that was hurt runs again. Returns what it did, in a few words. */
export type Fault = (world: World, random: SeededRandom) => Promise<string>

/** Kafka's sessions in these runs, of group members and of brokers. Whoever is silent for longer loses its place. */
export const sessionTimeoutMs = 6_000
const zombieMs = { min: sessionTimeoutMs + 3_000, max: sessionTimeoutMs + 9_000 }
/** Until a supervisor has noticed an end and starts the server again. */
const noticedMs = { min: 100, max: 3_000 }
const inSyncWithinMs = 120_000

const moments = {
  'kill ingest': killService('ingest'),
  'kill counters': killService('aggregator-counters'),
  'kill sink': killService('aggregator-sink'),
  'kill control plane': killService('control-plane'),
  'kill broker': (world, random) => killEngine(random.pick(brokerNames))(world, random),
  'kill Redis': killEngine('redis'),
  'kill PostgreSQL': killEngine('postgres'),
  'kill ClickHouse': killEngine('clickhouse'),
  'suspend ingest': suspendService('ingest'),
  'suspend counters': suspendService('aggregator-counters'),
  'suspend sink': suspendService('aggregator-sink'),
  'suspend broker': suspendBroker,
} satisfies Record<string, Fault>

/** These take long or leave much to be made again: once in a run is enough. */
const stretches = {
  'rolling restart': restartBrokers,
  'ClickHouse away': takeClickHouseAway,
  FLUSHALL: flushRedis,
  'counters stopped': stopCounters,
  'older ClickHouse': putOlderClickHouseBack,
  'kills during start': killDuringStart,
} satisfies Record<string, Fault>

export const faults: Readonly<Record<string, Fault>> = { ...moments, ...stretches }
export const momentNames: readonly string[] = Object.keys(moments)
export const stretchNames: readonly string[] = Object.keys(stretches)
export const faultNames: readonly string[] = Object.keys(faults)

function killService(service: ServiceName): Fault {
  return async ({ services }, random) => {
    const pids = await services.pidsOf(service)
    const which = random.integer(1, pids.length)
    const pid = pids[which - 1]!
    const back = stopwatch()
    killProcess(pid)
    await services.untilReplaced(service, pid)
    return `${which} of ${pids.length}, back after ${back()}`
  }
}

/** Suspended for so long that others take over; then it goes on where it was, and does not know. */
function suspendService(service: ServiceName): Fault {
  return async ({ services }, random) => {
    const pids = await services.pidsOf(service)
    const which = random.integer(1, pids.length)
    const suspendedMs = random.integer(zombieMs.min, zombieMs.max)
    await suspend(pids[which - 1]!, suspendedMs)
    return `${which} of ${pids.length} for ${seconds(suspendedMs)}`
  }
}

function killEngine(server: EngineServerName): Fault {
  return async ({ engines }, random) => {
    const back = stopwatch()
    killProcess(engines.pidOf(server))
    await sleep(random.integer(noticedMs.min, noticedMs.max))
    await engines.revive(server)
    await untilInSync(engines)
    return `${server}, back after ${back()}`
  }
}

async function suspendBroker({ engines }: World, random: SeededRandom): Promise<string> {
  const broker = random.pick(brokerNames)
  const suspendedMs = random.integer(zombieMs.min, zombieMs.max)
  await suspend(engines.pidOf(broker), suspendedMs)
  const back = stopwatch()
  await untilInSync(engines)
  return `${broker} for ${seconds(suspendedMs)}, in sync after ${back()}`
}

async function suspend(pid: number, ms: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  try {
    await sleep(ms)
  } finally {
    process.kill(pid, 'SIGCONT')
  }
}

/** One after the other, the next one when all copies are whole again: how brokers are upgraded. */
async function restartBrokers({ engines }: World): Promise<string> {
  const took = stopwatch()
  for (const broker of brokerNames) {
    await engines.stop(broker)
    await engines.revive(broker)
    await untilInSync(engines)
  }
  return `${brokerNames.length} brokers in ${took()}`
}

async function takeClickHouseAway({ engines, clickHouseAwayMs }: World): Promise<string> {
  killProcess(engines.pidOf('clickhouse'))
  await sleep(clickHouseAwayMs)
  await engines.revive('clickhouse')
  return `for ${seconds(clickHouseAwayMs)}`
}

/** Counting stands still while usage is recorded and limits are checked. */
async function stopCounters({ services, countersStoppedMs }: World): Promise<string> {
  const pids = await services.pidsOf('aggregator-counters')
  await Promise.all(pids.map((pid) => suspend(pid, countersStoppedMs)))
  return `${pids.length} for ${seconds(countersStoppedMs)}`
}

const loadBehindCopyMs = { min: 500, max: 3_000 }

/** What a power cut or a restored backup leaves: a ClickHouse that lacks rows which the sink's position says are stored. */
async function putOlderClickHouseBack({ engines }: World, random: SeededRandom): Promise<string> {
  await engines.stop('clickhouse')
  const copy = await keepCopy(engines.clickHouseFolder)
  await engines.revive('clickhouse')
  const olderMs = random.integer(loadBehindCopyMs.min, loadBehindCopyMs.max)
  await sleep(olderMs)
  await engines.stop('clickhouse')
  await copy.putBack()
  await engines.revive('clickhouse')
  return `a copy of ${seconds(olderMs)} before`
}

const killsPerStart = 4

async function killDuringStart({ services }: World, random: SeededRandom): Promise<string> {
  const killed: string[] = []
  await services.restartUnderKills(random, {
    killsMax: killsPerStart,
    treeShare: 0.15,
    onKill: (name) => killed.push(name),
  })
  return `${killed.length} kills: ${killed.join(', ')}`
}

async function flushRedis({ engines, untilCountedInRedis }: World): Promise<string> {
  const exact = stopwatch()
  const answer = await askRedis(engines.ports.redis, 'FLUSHALL')
  if (!answer.startsWith('+OK')) throw new Error(`Redis answered FLUSHALL with ${answer}`)
  await untilCountedInRedis()
  return `counts whole again after ${exact()}`
}

/** A broker that was away is caught up with, so that the next one may go. */
async function untilInSync({ ports }: ChaosEngines): Promise<void> {
  const inSync = async (): Promise<boolean> => {
    const each = await Promise.all(ports.kafka.map(({ port }) => partitionsShort(port)))
    return each.every((count) => count === 0)
  }
  if (await waitUntil(inSync, inSyncWithinMs)) return
  throw new Error(`Kafka's copies are not whole after ${seconds(inSyncWithinMs)}.`)
}

function stopwatch(): () => string {
  const startedAtMs = performance.now()
  return () => seconds(performance.now() - startedAtMs)
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
