import { cpus, totalmem } from 'node:os'
import { formatCount, formatTable } from '@tollgate/platform/terminal/table'
import { bulkSize } from './bodies.ts'
import type { BillingResult } from './billing/measure-billing.ts'
import type { ComparisonResult } from './compare-servers.ts'
import type { EngineCeilings } from './engines/engine-ceilings.ts'
import type { UsageComparisons } from './comparisons.ts'
import type { BenchResult, DataPlaneResult } from './run-bench.ts'

/** Returns rates next to the ceiling of the same run, because a rate alone mostly describes the machine. */
export function reportText({ dataPlane, management }: BenchResult): string {
  return [
    `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}; includes the load generator and all parts`,
    ...(dataPlane === undefined ? [] : [dataPlaneText(dataPlane)]),
    ...(management.length === 0 ? [] : [managementText(management)]),
  ].join('\n\n')
}

function dataPlaneText(result: DataPlaneResult): string {
  const { counters, sink, visibility, limits } = result
  const measured = [
    ...usagePaths('', result.usage),
    ...usagePaths('ingest alone: ', result.usageAlone),
    { ...limitPath, result: limits },
  ]
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
function processorText(measured: readonly MeasuredPath[]): string {
  const header = ['path', 'per', 'ceiling', 'ceiling us', 'ours us', 'multiple']
  return formatTable(
    header,
    measured.map(({ name, ceilingName, recordsPerRequest, result: { ceiling, ours } }) => [
      name,
      recordsPerRequest === 1 ? 'request' : 'record',
      ceilingName,
      (ceiling.processorUs / recordsPerRequest).toFixed(1),
      (ours.processorUs / recordsPerRequest).toFixed(1),
      ratio(ours.processorUs, ceiling.processorUs),
    ]),
  )
}

/** Returns rates next to the same statements sent directly to PostgreSQL in the same run. */
function managementText(management: BenchResult['management']): string {
  const header = ['management API', 'PostgreSQL/s', 'ours/s', 'ratio', 'PostgreSQL p99', 'p99 ms']
  return formatTable(
    header,
    management.map(({ name, ours, direct }) => [
      name,
      formatCount(Math.round(direct.perSecond)),
      formatCount(Math.round(ours.perSecond)),
      ratio(ours.perSecond, direct.perSecond),
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
        usage.single256.ours.requestsPerSecond,
      ),
      row(
        `bulk of ${bulkSize}`,
        'kafka-producer-perf-test',
        kafka,
        usage.bulk.ours.requestsPerSecond * bulkSize,
      ),
      row(
        'limit check, 64 connections',
        'redis-benchmark, a script',
        ceilings.redisCallsPerSecond,
        limits.ours.requestsPerSecond,
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

/** A path of the data plane, the server that it is compared with, and the smallest ratio of rates in the budget. */
type MeasuredPath = {
  readonly name: string
  readonly ceilingName: string
  readonly recordsPerRequest: number
  readonly budget: string
  readonly result: ComparisonResult
}

const singlePath = { ceilingName: 'bare uWS', recordsPerRequest: 1 }
const bulkPath = { ceilingName: 'parse and validate', recordsPerRequest: bulkSize, budget: '0.60' }
const limitPath = { name: 'limit check, 64 connections', ...singlePath, budget: '0.50' }

function usagePaths(prefix: string, usage: UsageComparisons): MeasuredPath[] {
  const single = { ...singlePath, name: `${prefix}single` }
  const bulk = { ...bulkPath, name: `${prefix}bulk of ${bulkSize}` }
  const at256 = { ...single, name: `${single.name}, 256 connections`, budget: '0.60' }
  const at64 = { ...single, name: `${single.name}, 64 connections`, budget: '0.40' }
  const unknown = (path: Omit<MeasuredPath, 'result'>, result: ComparisonResult): MeasuredPath => ({
    ...path,
    name: `${path.name}, unknown customers`,
    result,
  })
  return [
    { ...at256, result: usage.single256 },
    { ...at64, result: usage.single64 },
    { ...bulk, result: usage.bulk },
    unknown(at256, usage.unknown256),
    unknown(at64, usage.unknown64),
    unknown(bulk, usage.unknownBulk),
  ]
}

function rateRow({ name, ceilingName, recordsPerRequest, budget, result }: MeasuredPath): string[] {
  const { ceiling, ours } = result
  const rate = (perSecond: number): string => formatCount(Math.round(perSecond * recordsPerRequest))
  return [
    name,
    ceilingName,
    rate(ceiling.requestsPerSecond),
    rate(ours.requestsPerSecond),
    ratio(ours.requestsPerSecond, ceiling.requestsPerSecond),
    `>= ${budget}`,
    ours.p99Ms.toFixed(2),
    String(ours.errors + ceiling.errors),
  ]
}

function ratio(ours: number, ceiling: number): string {
  return (ours / ceiling).toFixed(2)
}
