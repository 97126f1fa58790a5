import { setTimeout as sleep } from 'node:timers/promises'
import { quantile } from '../../load/statistics.ts'
import { measureCeiling } from './measure-ceiling.ts'
import { measureKills, type Kills } from './measure-kills.ts'
import type { Rig } from './rig.ts'
import { duplicatesIn } from './sink-process.ts'

export type WebhookOptions = {
  /** Number of deliveries in one throughput measurement. */
  readonly deliveries: number
  /** Number of deliveries while dispatchers are killed. */
  readonly killedDeliveries: number
  /** Numbers of dispatchers to measure, one after the other. */
  readonly dispatchers: readonly number[]
}

export type WebhookResult = {
  readonly latency: Latency
  /** Deliveries per second of a process that only signs and sends. */
  readonly ceilingPerSecond: number
  readonly throughput: readonly Throughput[]
  readonly fairness: Fairness
  readonly kills: Kills
}

/** Milliseconds from the commit to the receiver in an idle system. */
type Latency = { readonly events: number; readonly p50Ms: number; readonly p99Ms: number }

type Throughput = {
  readonly dispatchers: number
  readonly deliveries: number
  readonly perSecond: number
  readonly duplicates: number
}

/** Milliseconds from the commit to the receiver for healthy endpoints, with and without an endpoint that never answers. */
type Fairness = {
  readonly endpoints: number
  readonly queuedForHanging: number
  readonly p99AloneMs: number
  readonly p99BesideMs: number
  readonly sentToHanging: number
}

export async function measureWebhooks(
  rig: Rig,
  { deliveries, killedDeliveries, dispatchers }: WebhookOptions,
  print: (line: string) => void,
): Promise<WebhookResult> {
  print('latency of an idle system ...')
  const latency = await measureLatency(rig, 500)
  print('a process that only signs and sends ...')
  const ceilingPerSecond = await measureCeiling(rig, deliveries)
  const throughput: Throughput[] = []
  for (const count of dispatchers) {
    print(`throughput of ${count} dispatchers ...`)
    throughput.push(await measureThroughput(rig, count, deliveries))
  }
  print('fairness beside an endpoint that hangs ...')
  const fairness = await measureFairness(rig, 200, deliveries)
  print('dispatchers that are killed every two seconds ...')
  const kills = await measureKills(rig, killedDeliveries, 2_000)
  return { latency, ceilingPerSecond, throughput, fairness, kills }
}

async function measureLatency(rig: Rig, events: number): Promise<Latency> {
  const waits = await measureWaits(rig, { endpoints: 1, events, everyMs: 20, queuedForHanging: 0 })
  return { events: waits.length, p50Ms: quantile(waits, 0.5), p99Ms: quantile(waits, 0.99) }
}

const endpointsOfThroughput = 50

/** Measures the time from the first to the last arrival of deliveries that were queued before. */
async function measureThroughput(rig: Rig, count: number, deliveries: number): Promise<Throughput> {
  await rig.clear()
  await rig.insertEndpoints(endpointsOfThroughput)
  await rig.emitEvents(Math.ceil(deliveries / endpointsOfThroughput))
  const queued = Math.ceil(deliveries / endpointsOfThroughput) * endpointsOfThroughput
  const dispatchers = rig.startDispatchers(count)
  await waitUntilReceived(rig, queued)
  const list = await rig.sink.list()
  await dispatchers.stop()
  const times = list.map(([, , atMs]) => atMs).sort((one, other) => one - other)
  const seconds = (times.at(-1)! - times[0]!) / 1_000
  return {
    dispatchers: count,
    deliveries: list.length,
    perSecond: list.length / seconds,
    duplicates: duplicatesIn(list),
  }
}

const hangingProvider = 'prov_hanging'

/**
 * Rounds alternate, so that other work on the machine affects both loads. The 99th percentile is determined by the slowest event of
 * a round.
 */
const fairnessRounds = 3

/** Both loads are the same: events for all healthy endpoints at fixed intervals, at a rate below the capacity. */
async function measureFairness(rig: Rig, endpoints: number, queued: number): Promise<Fairness> {
  const load = { endpoints, events: 100, everyMs: 300 }
  const alone: number[] = []
  const beside: number[] = []
  let sentToHanging = 0
  for (let round = 0; round < fairnessRounds; round += 1) {
    alone.push(...(await measureWaits(rig, { ...load, queuedForHanging: 0 })))
    beside.push(...(await measureWaits(rig, { ...load, queuedForHanging: queued })))
    sentToHanging += (await rig.sink.count()).hanging
  }
  return {
    endpoints,
    queuedForHanging: queued,
    p99AloneMs: quantile(alone, 0.99),
    p99BesideMs: quantile(beside, 0.99),
    sentToHanging,
  }
}

type WaitOptions = {
  readonly endpoints: number
  readonly events: number
  /** Milliseconds between two events. */
  readonly everyMs: number
  /** Number of events queued for an endpoint that never answers. */
  readonly queuedForHanging: number
}

/** Returns for each delivery to healthy endpoints the milliseconds from the commit of its event to its first arrival. */
async function measureWaits(rig: Rig, options: WaitOptions): Promise<readonly number[]> {
  const { endpoints, events, everyMs, queuedForHanging } = options
  await rig.clear()
  await rig.insertEndpoints(endpoints)
  if (queuedForHanging > 0) {
    await rig.insertEndpoints(1, '/hang', hangingProvider)
    await rig.emitEvents(queuedForHanging, hangingProvider)
  }
  const dispatchers = rig.startDispatchers(1)
  await warmUp(rig, endpoints)
  const committed = new Map<string, number>()
  for (let emitted = 0; emitted < events; emitted += 1) {
    const { eventId, committedAtMs } = await rig.emitEvent()
    committed.set(eventId.slice(4), committedAtMs)
    await sleep(everyMs)
  }
  await waitUntilReceived(rig, (events + 1) * endpoints)
  const list = await rig.sink.list()
  await dispatchers.stop()
  return list.flatMap(([delivery, , atMs]) => {
    const committedAtMs = committed.get(delivery.slice(4, -12))
    return committedAtMs === undefined ? [] : [Math.max(0, atMs - committedAtMs)]
  })
}

async function warmUp(rig: Rig, endpoints: number): Promise<void> {
  await rig.emitEvent()
  await waitUntilReceived(rig, endpoints)
}

async function waitUntilReceived(rig: Rig, deliveries: number): Promise<void> {
  while ((await rig.sink.count()).distinct < deliveries) await sleep(50)
}
