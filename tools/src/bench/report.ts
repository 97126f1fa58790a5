import { formatCount, formatTable } from '@tollgate/platform/terminal/table'
import { bulkSize } from './bodies.ts'
import type { BillingResult } from './billing/measure-billing.ts'
import { resultOf, type PathResult } from './comparisons.ts'
import type { EngineCeilings } from './engines/engine-ceilings.ts'
import { machineText, readMachine } from './machine.ts'
import { spreadText } from './spread-text.ts'
import { bulk, limitCheck, single256 } from './paths.ts'
import type { BenchResult, DataPlaneResult } from './run-bench.ts'

/** Returns rates next to the ceiling of the same run, because a rate alone mostly describes the machine. */
export function reportText({ dataPlane, management }: BenchResult): string {
  return [
    `${machineText(readMachine())}, Node ${process.version}; includes the load generator and all parts`,
    ...(dataPlane === undefined ? [] : [dataPlaneText(dataPlane)]),
    ...(management.length === 0 ? [] : [managementText(management)]),
  ].join('\n\n')
}

function dataPlaneText(result: DataPlaneResult): string {
  const { counters, sink, visibility } = result
  const measured = [...result.usage, ...result.usageAlone, ...result.limits]
  const limits = resultOf(result.limits, limitCheck)
  const rows = [
    ['limit check p99 / ceiling p99', ratio(limits.ours.p99Ms, limits.ceiling.p99Ms), '< 3'],
    [
      'counters projection, events/s per core',
      formatCount(Math.round(counters.perCore)),
      '>= 150,000',
    ],
    ['counters projection, events/s', formatCount(Math.round(counters.perSecond)), ''],
    ['ClickHouse sink, rows/s per core', formatCount(Math.round(sink.perCore)), '>= 100,000'],
    [
      'ClickHouse sink and engine, rows/s per core',
      formatCount(Math.round(sink.perCoreWithEngine)),
      '',
    ],
    ['ClickHouse sink, rows/s', formatCount(Math.round(sink.perSecond)), ''],
    ['ack to visible in a limit check, p50 ms', visibility.p50Ms.toFixed(2), ''],
    ['ack to visible in a limit check, p99 ms', visibility.p99Ms.toFixed(2), '< 50'],
    ['limit check without new usage, p50 ms', visibility.idleP50Ms.toFixed(2), ''],
    ['checks that missed an acked unit', String(visibility.wrong), '0'],
  ]
  const header = ['path', 'ceiling', 'ceiling/s', 'ours/s', 'ratio', 'budget', 'p99 ms', 'errors']
  return [
    formatTable(header, measured.map(rateRow)),
    processorText(measured),
    formatTable(['measure', 'ours', 'budget'], rows),
  ].join('\n\n')
}

/** Returns what each request costs the process that answers it, beside a server that does nothing else. */
function processorText(measured: readonly PathResult[]): string {
  const header = ['path', 'per', 'ceiling', 'ceiling us', 'ours us', 'multiple']
  return formatTable(
    header,
    measured.map(({ path: { name, ceilingName, recordsPerRequest }, ceiling, ours, processor }) => [
      name,
      recordsPerRequest === 1 ? 'request' : 'record',
      ceilingName,
      (ceiling.processorUs / recordsPerRequest).toFixed(1),
      (ours.processorUs / recordsPerRequest).toFixed(1),
      spreadText(processor),
    ]),
  )
}

/** Returns rates next to the same statements sent directly to PostgreSQL in the same run. */
function managementText(management: BenchResult['management']): string {
  const header = ['management API', 'PostgreSQL/s', 'ours/s', 'ratio', 'PostgreSQL p99', 'p99 ms']
  return formatTable(
    header,
    management.map(({ name, ours, direct, throughput }) => [
      name,
      formatCount(Math.round(direct.perSecond)),
      formatCount(Math.round(ours.perSecond)),
      spreadText(throughput),
      direct.p99Ms.toFixed(2),
      ours.p99Ms.toFixed(2),
    ]),
  )
}

/** Returns rates next to their ceilings in the same run. */
export function billingText(results: readonly BillingResult[]): string {
  const header = [
    ...['renewals', 'due', 'runners', 'ceiling', 'ceiling/s', 'ours/s', 'ratio', 'per core'],
    ...['first and last batch, s', 'memory MiB'],
  ]
  return formatTable(
    header,
    results.map(({ name, due, run, ceilingName, ceilingPerSecond }) => {
      const perSecond = due / run.seconds
      return [
        name,
        formatCount(due),
        String(run.runners),
        ceilingName,
        formatCount(Math.round(ceilingPerSecond)),
        formatCount(Math.round(perSecond)),
        ratio(perSecond, ceilingPerSecond),
        formatCount(Math.round(due / run.processorSeconds)),
        `${run.batchSeconds[0]?.toFixed(2)} ${run.batchSeconds.at(-1)?.toFixed(2)}`,
        run.memoryMiB.toFixed(0),
      ]
    }),
  )
}

/** Returns rates next to the maximum of each engine. The difference is the cost of Tollgate. */
export function engineCeilingsText(result: DataPlaneResult, ceilings: EngineCeilings): string {
  const { usage, limits, sink } = result
  const row = (name: string, tool: string, ceiling: number, ours: number): string[] => [
    name,
    tool,
    formatCount(Math.round(ceiling)),
    formatCount(Math.round(ours)),
    ratio(ours, ceiling),
  ]
  const kafka = ceilings.kafkaRecordsPerSecond
  return formatTable(
    ['path', 'engine alone', 'ceiling/s', 'ours/s', 'ratio'],
    [
      row(
        'single, 256 connections',
        'kafka-producer-perf-test',
        kafka,
        resultOf(usage, single256).ours.requestsPerSecond,
      ),
      row(
        `bulk of ${bulkSize}`,
        'kafka-producer-perf-test',
        kafka,
        resultOf(usage, bulk).ours.requestsPerSecond * bulkSize,
      ),
      row(
        'limit check, 64 connections',
        'redis-benchmark, a script',
        ceilings.redisCallsPerSecond,
        resultOf(limits, limitCheck).ours.requestsPerSecond,
      ),
      row(
        'ClickHouse sink, rows',
        'INSERT of generated rows',
        ceilings.clickhouseRowsPerSecond,
        sink.perSecond,
      ),
    ],
  )
}

function rateRow({ path, ceiling, ours, throughput }: PathResult): string[] {
  const { name, ceilingName, recordsPerRequest, budget } = path
  const rate = (perSecond: number): string => formatCount(Math.round(perSecond * recordsPerRequest))
  return [
    name,
    ceilingName,
    rate(ceiling.requestsPerSecond),
    rate(ours.requestsPerSecond),
    spreadText(throughput),
    budget === undefined ? '' : `>= ${budget}`,
    ours.p99Ms.toFixed(2),
    String(ours.errors + ceiling.errors),
  ]
}

function ratio(ours: number, ceiling: number): string {
  return (ours / ceiling).toFixed(2)
}
