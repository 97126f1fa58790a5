import { setTimeout as sleep } from 'node:timers/promises'
import { keepCopy } from '@tollgate/platform/chaos/older-copy'
import type { SeededRandom } from '../../client/seeded-random.ts'
import { countUnderReplicated } from '../../engines/kafka-metadata.ts'
import { waitUntil } from '../../engines/wait-until.ts'
import { killProcess } from '../../instance/process-tree.ts'
import { brokerNames, flushAll, type ChaosEngines, type EngineServerName } from './chaos-engines.ts'
import type { ChaosServices, ServiceName } from './chaos-services.ts'

export type FaultContext = {
  readonly engines: ChaosEngines
  readonly services: ChaosServices
  /** How long ClickHouse is stopped in its own round, in milliseconds. */
  readonly clickHouseAwayMs: number
  /** How long all counters are stopped in their own round, in milliseconds. */
  readonly countersStoppedMs: number
  /** Resolves when Redis contains, for every customer, all units acknowledged before the call. */
  readonly waitUntilCountedInRedis: () => Promise<void>
}

/** Causes a fault, and resolves when everything affected is running again. Returns a short description. */
export type Fault = (faultContext: FaultContext, random: SeededRandom) => Promise<string>

/** Session timeout of Kafka's group members and brokers in these runs. A process that is silent for longer loses its membership. */
export const sessionTimeoutMs = 6_000
const suspensionMs = { min: sessionTimeoutMs + 3_000, max: sessionTimeoutMs + 9_000 }
/** Milliseconds until a supervisor has noticed the end of a server and starts it again. */
const restartDelayMs = { min: 100, max: 3_000 }
const inSyncWithinMs = 120_000

const shortFaults = {
  'kill ingest': killService('ingest'),
  'kill counters': killService('aggregator-counters'),
  'kill sink': killService('aggregator-sink'),
  'kill control plane': killService('control-plane'),
  'kill broker': (faultContext, random) =>
    killEngine(random.pick(brokerNames))(faultContext, random),
  'kill Redis': killEngine('redis'),
  'kill PostgreSQL': killEngine('postgres'),
  'kill ClickHouse': killEngine('clickhouse'),
  'suspend ingest': suspendService('ingest'),
  'suspend counters': suspendService('aggregator-counters'),
  'suspend sink': suspendService('aggregator-sink'),
  'suspend broker': suspendBroker,
} satisfies Record<string, Fault>

/** These faults take long or require a large rebuild, so each occurs once in a run. */
const longFaults = {
  'rolling restart': restartBrokers,
  'ClickHouse away': stopClickHouse,
  FLUSHALL: flushRedis,
  'counters stopped': stopCounters,
  'older ClickHouse': restoreOlderClickHouse,
  'kills during start': killDuringStart,
} satisfies Record<string, Fault>

export const faults: Readonly<Record<string, Fault>> = { ...shortFaults, ...longFaults }
export const shortFaultNames: readonly string[] = Object.keys(shortFaults)
export const longFaultNames: readonly string[] = Object.keys(longFaults)
export const faultNames: readonly string[] = Object.keys(faults)

export function losesHotState(fault: string): boolean {
  return fault === 'FLUSHALL'
}

function killService(service: ServiceName): Fault {
  return async ({ services }, random) => {
    const pids = await services.pidsOf(service)
    const which = random.integer(1, pids.length)
    const pid = pids[which - 1]!
    const back = stopwatch()
    killProcess(pid)
    await services.waitUntilReplaced(service, pid)
    return `${which} of ${pids.length}, back after ${back()}`
  }
}

/** Suspends a process until others have taken over its work. It then continues without knowing that it lost its membership. */
function suspendService(service: ServiceName): Fault {
  return async ({ services }, random) => {
    const pids = await services.pidsOf(service)
    const which = random.integer(1, pids.length)
    const suspendedMs = random.integer(suspensionMs.min, suspensionMs.max)
    await suspend(pids[which - 1]!, suspendedMs)
    return `${which} of ${pids.length} for ${seconds(suspendedMs)}`
  }
}

function killEngine(server: EngineServerName): Fault {
  return async ({ engines }, random) => {
    const back = stopwatch()
    killProcess(engines.pidOf(server))
    await sleep(random.integer(restartDelayMs.min, restartDelayMs.max))
    await engines.restart(server)
    await waitUntilInSync(engines)
    return `${server}, back after ${back()}`
  }
}

async function suspendBroker({ engines }: FaultContext, random: SeededRandom): Promise<string> {
  const broker = random.pick(brokerNames)
  const suspendedMs = random.integer(suspensionMs.min, suspensionMs.max)
  await suspend(engines.pidOf(broker), suspendedMs)
  const back = stopwatch()
  await waitUntilInSync(engines)
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

/** Restarts the brokers one after the other, each after all replicas are in sync again, as in an upgrade. */
async function restartBrokers({ engines }: FaultContext): Promise<string> {
  const took = stopwatch()
  for (const broker of brokerNames) {
    await engines.stop(broker)
    await engines.restart(broker)
    await waitUntilInSync(engines)
  }
  return `${brokerNames.length} brokers in ${took()}`
}

async function stopClickHouse({ engines, clickHouseAwayMs }: FaultContext): Promise<string> {
  killProcess(engines.pidOf('clickhouse'))
  await sleep(clickHouseAwayMs)
  await engines.restart('clickhouse')
  return `for ${seconds(clickHouseAwayMs)}`
}

/** Stops counting while usage is recorded and limits are checked. */
async function stopCounters({ services, countersStoppedMs }: FaultContext): Promise<string> {
  const pids = await services.pidsOf('aggregator-counters')
  await Promise.all(pids.map((pid) => suspend(pid, countersStoppedMs)))
  return `${pids.length} for ${seconds(countersStoppedMs)}`
}

const copyAgeMs = { min: 500, max: 3_000 }

/** Simulates a power loss or a restored backup: ClickHouse lacks rows that are stored according to the sink's position. */
async function restoreOlderClickHouse(
  { engines }: FaultContext,
  random: SeededRandom,
): Promise<string> {
  await engines.stop('clickhouse')
  const copy = await keepCopy(engines.clickHouseFolder)
  await engines.restart('clickhouse')
  const olderMs = random.integer(copyAgeMs.min, copyAgeMs.max)
  await sleep(olderMs)
  await engines.stop('clickhouse')
  await copy.putBack()
  await engines.restart('clickhouse')
  return `a copy from ${seconds(olderMs)} before`
}

const killsPerStart = 4

async function killDuringStart({ services }: FaultContext, random: SeededRandom): Promise<string> {
  const killed: string[] = []
  await services.restartUnderKills(random, {
    killsMax: killsPerStart,
    treeShare: 0.15,
    onKill: (name) => killed.push(name),
  })
  return `${killed.length} kills: ${killed.join(', ')}`
}

async function flushRedis({ engines, waitUntilCountedInRedis }: FaultContext): Promise<string> {
  const exact = stopwatch()
  await flushAll(engines)
  await waitUntilCountedInRedis()
  return `counts complete again after ${exact()}`
}

/** Waits until all replicas are in sync, so that the next broker may stop. */
async function waitUntilInSync({ ports }: ChaosEngines): Promise<void> {
  const inSync = async (): Promise<boolean> => {
    const each = await Promise.all(ports.kafka.map(({ port }) => countUnderReplicated(port)))
    return each.every((count) => count === 0)
  }
  if (await waitUntil(inSync, inSyncWithinMs)) return
  throw new Error(`Kafka's replicas are not in sync after ${seconds(inSyncWithinMs)}.`)
}

function stopwatch(): () => string {
  const startedAtMs = performance.now()
  return () => seconds(performance.now() - startedAtMs)
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
