import { measureLanes } from '../../load/lanes.ts'
import { median, mediansOf } from '../../load/statistics.ts'
import type { ClientLog } from './client-log.ts'
import { openKafkajsLog } from './kafkajs-log.ts'
import { openOurLog } from './our-log.ts'
import { openPlatformaticLog } from './platformatic-log.ts'

/** Rates of one client in the same process as its callers. */
export type ClientRates = {
  readonly name: string
  /** Append rates by the number of concurrent appenders. Each appender waits for one record before it sends the next. */
  readonly appends: ReadonlyMap<number, AppendRate>
  /** Records per second when reading the partitions one after the other. Undefined if the client cannot read from an offset. */
  readonly readsPerSecond: number | undefined
}

type AppendRate = {
  readonly perSecond: number
  readonly p99Ms: number
  /** CPU time per append in microseconds, including the appenders. */
  readonly processorUs: number
}

export type ClientsOptions = {
  readonly brokers: readonly string[]
  readonly topic: string
  readonly partitions: number
  readonly recordBytes: number
  readonly seconds: number
  readonly repeats: number
  /** Maximum number of records to read. */
  readonly records: number
}

/** Numbers of concurrent appenders to measure. */
const appenderCounts = [64, 256] as const

const warmUpSeconds = 1
const readLimits = { recordsMax: 1_000_000, bytesMax: 1024 * 1024 }

/** Measures the clients alternately, so that a slow moment of the machine affects all of them. Returns the medians. */
export async function measureClients(options: ClientsOptions): Promise<ClientRates[]> {
  const { brokers, topic, partitions, repeats } = options
  const contestants = [
    { name: 'Tollgate on kafkajs', log: await openOurLog(brokers, topic, partitions) },
    { name: 'kafkajs with its own producer', log: await openKafkajsLog(brokers, topic) },
    { name: '@platformatic/kafka', log: await openPlatformaticLog(brokers, topic) },
  ].map((each) => ({ ...each, appends: new Map<number, AppendRate[]>(), reads: [] as number[] }))
  try {
    for (const { log } of contestants) await append(log, options, 64, warmUpSeconds)
    for (let repeat = 0; repeat < repeats; repeat++) {
      for (const appenders of appenderCounts) {
        for (const { log, appends } of contestants) {
          const rate = await append(log, options, appenders, options.seconds)
          appends.set(appenders, [...(appends.get(appenders) ?? []), rate])
        }
      }
      for (const { log, reads } of contestants) {
        if (log.reader !== undefined) reads.push(await read(log.reader, options))
      }
    }
  } finally {
    for (const { log } of contestants) await log.close()
  }
  return contestants.map(({ name, appends, reads }) => ({
    name,
    appends: new Map(
      [...appends].map(([appenders, rates]) => [
        appenders,
        mediansOf(rates, ['perSecond', 'p99Ms', 'processorUs']),
      ]),
    ),
    readsPerSecond: reads.length === 0 ? undefined : median(reads),
  }))
}

async function append(
  log: ClientLog,
  { topic, partitions, recordBytes }: ClientsOptions,
  appenders: number,
  seconds: number,
): Promise<AppendRate> {
  const value = Buffer.alloc(recordBytes, 'usage')
  const processorAtStart = process.cpuUsage()
  const { acts, perSecond, p99Ms } = await measureLanes(appenders, seconds, (appender) =>
    log.append(topic, appender % partitions, value, Date.now(), `customer_${appender}`),
  )
  const { user, system } = process.cpuUsage(processorAtStart)
  return { perSecond, p99Ms, processorUs: (user + system) / acts }
}

async function read(
  log: Required<ClientLog>['reader'],
  { topic, partitions, records }: ClientsOptions,
): Promise<number> {
  const ofEach = Math.ceil(records / partitions)
  let count = 0
  const startedAtMs = performance.now()
  for (let partition = 0; partition < partitions; partition++) {
    const end = Math.min(ofEach, await log.head(topic, partition))
    for (let offset = 0; offset < end;) {
      const read = await log.read(topic, partition, offset, readLimits)
      count += read.length
      offset = read.at(-1)!.offset + 1
    }
  }
  return count / ((performance.now() - startedAtMs) / 1000)
}
