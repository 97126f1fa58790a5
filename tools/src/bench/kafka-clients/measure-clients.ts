import { measureLanes } from '../../load/lanes.ts'
import { median } from '../../load/statistics.ts'
import type { ClientLog } from './client-log.ts'
import { appendersOf, type AppendRate, type ClientRates } from './client-rates.ts'
import { openKafkajsLog } from './kafkajs-log.ts'
import { openOurLog } from './our-log.ts'
import { openPlatformaticLog } from './platformatic-log.ts'

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

const warmUpSeconds = 1
const readLimits = { recordsMax: 1_000_000, bytesMax: 1024 * 1024 }

/** Measures the clients alternately, so that a slow moment of the machine affects all of them. Returns the medians. */
export async function measureClients(options: ClientsOptions): Promise<ClientRates[]> {
  const { brokers, topic, partitions, repeats } = options
  const contestants = [
    { name: 'ours on kafkajs', log: await openOurLog(brokers, topic, partitions) },
    { name: 'kafkajs, its own producer', log: await openKafkajsLog(brokers, topic) },
    { name: '@platformatic/kafka', log: await openPlatformaticLog(brokers, topic) },
  ].map((each) => ({ ...each, appends: new Map<number, AppendRate[]>(), reads: [] as number[] }))
  try {
    for (const { log } of contestants) await append(log, options, 64, warmUpSeconds)
    for (let repeat = 0; repeat < repeats; repeat++) {
      for (const appenders of appendersOf) {
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
    appends: new Map([...appends].map(([appenders, rates]) => [appenders, medians(rates)])),
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

function medians(rates: readonly AppendRate[]): AppendRate {
  const of = (pick: (rate: AppendRate) => number): number => median(rates.map(pick))
  return {
    perSecond: of(({ perSecond }) => perSecond),
    p99Ms: of(({ p99Ms }) => p99Ms),
    processorUs: of(({ processorUs }) => processorUs),
  }
}
