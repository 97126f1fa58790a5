import { setTimeout as sleep } from 'node:timers/promises'
import type { TollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { readMetric } from '../instance/metrics.ts'
import { processOf } from '../instance/process-of.ts'
import type { RunFile } from '@tollgate/deploy/standalone/run-file'
import { runLanes, times } from '../load/lanes.ts'
import { processorSeconds } from '../load/process-clock.ts'

export type ProjectionRate = {
  readonly records: number
  readonly perSecond: number
  /** Records per second of CPU time of the projection's process. */
  readonly perCore: number
  /** Records per second of CPU time of the projection and of the engine to which it writes. */
  readonly perCoreWithEngine: number
}

export type BacklogOptions = {
  readonly client: TollgateClient
  readonly runFile: RunFile
  readonly productRef: string
  readonly customerRefs: readonly string[]
  readonly records: number
  /** Records that many events. Default: usage calls. */
  readonly send?: (count: number) => Promise<unknown>
}

const bulkSize = 1_000
const postersMax = 4
const pollMs = 20
/** A measurement leaves up to millions of records behind, also with idempotency keys, which take longer to apply. */
const timeoutMs = 1_800_000

const projections = {
  counters: { service: 'aggregator-counters', engine: undefined },
  sink: { service: 'aggregator-sink', engine: 'chdb-gateway' },
} as const

/**
 * Suspends both projections, fills the log, then resumes one projection at a time and measures how fast it processes the backlog.
 * No other load runs meanwhile.
 */
export async function measureProjections(
  options: BacklogOptions,
): Promise<Record<keyof typeof projections, ProjectionRate>> {
  await waitUntilCaughtUp(options.runFile)
  const pidOf = (service: string): number => processOf(options.runFile, service)
  const pids = Object.values(projections).map(({ service }) => pidOf(service))
  const before = {
    counters: await readRecords(options.runFile, 'counters'),
    sink: await readRecords(options.runFile, 'sink'),
  }
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  try {
    await fillLog(options)
    const counters = await measure(options, 'counters', before.counters, pidOf)
    const sink = await measure(options, 'sink', before.sink, pidOf)
    return { counters, sink }
  } finally {
    for (const pid of pids) process.kill(pid, 'SIGCONT')
  }
}

async function measure(
  { runFile, records }: BacklogOptions,
  name: keyof typeof projections,
  before: number,
  pidOf: (service: string) => number,
): Promise<ProjectionRate> {
  const { service, engine } = projections[name]
  const readProcessorSeconds = async (): Promise<{ own: number; engine: number }> => ({
    own: await processorSeconds(pidOf(service)),
    engine: engine === undefined ? 0 : await processorSeconds(pidOf(engine)),
  })
  const start = await readProcessorSeconds()
  const startedAtMs = performance.now()
  process.kill(pidOf(service), 'SIGCONT')
  while ((await readRecords(runFile, name)) < before + records) {
    if (performance.now() - startedAtMs > timeoutMs) throw new Error(`${service} did not catch up`)
    await sleep(pollMs)
  }
  const seconds = (performance.now() - startedAtMs) / 1000
  const end = await readProcessorSeconds()
  const own = end.own - start.own
  return {
    records,
    perSecond: records / seconds,
    perCore: records / own,
    perCoreWithEngine: records / (own + end.engine - start.engine),
  }
}

/** Waits until the projections have caught up, so that records of earlier loads are not measured. */
export async function waitUntilCaughtUp({ adminUrls }: RunFile): Promise<void> {
  for (const { service } of Object.values(projections)) {
    const deadline = Date.now() + timeoutMs
    // The gauge is updated once per second, so a single reading of 0 may be older than the last load.
    for (let zeros = 0; zeros < 3;) {
      if (Date.now() > deadline) throw new Error(`${service} did not catch up`)
      const lag = await readMetric(adminUrls[service] ?? '', 'tollgate_projection_lag_records')
      zeros = lag === 0 ? zeros + 1 : 0
      await sleep(1_000)
    }
  }
}

function readRecords(runFile: RunFile, projection: keyof typeof projections): Promise<number> {
  const adminUrl = runFile.adminUrls[projections[projection].service]
  if (adminUrl === undefined) throw new Error(`No address of the ${projection} projection`)
  return readMetric(adminUrl, 'tollgate_projection_records_total', { projection })
}

async function fillLog({
  client,
  productRef,
  customerRefs,
  records,
  send,
}: BacklogOptions): Promise<void> {
  const batches = Math.ceil(records / bulkSize)
  let next = 0
  await runLanes(postersMax, times(batches), () => {
    if (send !== undefined) return send(bulkSize)
    const batch = next++
    return client.recordUsages(
      Array.from({ length: bulkSize }, (_, at) => ({
        customerRef: customerRefs[at % customerRefs.length],
        productRef,
        units: 1,
        metadata: { action: 'requests', requestId: `request-${batch}-${at}` },
      })),
    )
  })
}
