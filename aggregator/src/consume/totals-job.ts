import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Service } from '@tollgate/platform/service/service'
import { totalsStampOf } from '@tollgate/domain/stored-usage/totalled-ranges'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import type { ComparedParts } from './compare-stored.ts'
import type { Partition } from './partition-parts.ts'
import { stepTotals, type TotalsStep } from './step-totals.ts'
import type { TotalsMetrics } from './totals-metrics.ts'

export type TotalsJobParts = Pick<ComparedParts, 'usageStore' | 'cluster'> & {
  /** The partitions whose records this process stores now. */
  readonly partitions: () => readonly Partition[]
  /** Resolves once the tables exist. */
  readonly mayStart: Promise<void>
  readonly rangeRecords: number
  /** Milliseconds between two rounds over the partitions. */
  readonly intervalMs: number
  readonly metrics: TotalsMetrics
  readonly logger: Logger
}

/** Milliseconds that a partition is left alone after a failure, doubled with each further failure in a row. */
const retryMs = 10_000
const failuresMax = 6
/** Milliseconds after which a partition without new ranges is looked at again, in case an operator deleted totals. */
const recheckMs = 600_000
/** Milliseconds after which the rows of valid totals are compared with their noted sums again, and when the job begins. */
const verifyMs = 86_400_000

/** The job remembers this of each partition, so that it queries ClickHouse only if something may have changed. */
type Memory = {
  failures: number
  notBeforeMs: number
  /** `sightOf` the partition when every complete range had totals. */
  completeSight: string | undefined
  completeAtMs: number
  verifiedAtMs: number
}

/**
 * Returns a service that makes totals of the records that this process has stored, one range at a time over all partitions. It rests
 * after each range as long as the range took, so that it uses at most half of one processor of ClickHouse.
 */
export function createTotalsJob(parts: TotalsJobParts): Service {
  const stopping = new AbortController()
  const memories = new Map<string, Memory>()
  let running: Promise<void> | undefined

  const rest = (ms: number): Promise<unknown> =>
    sleep(ms, undefined, { signal: stopping.signal }).catch(() => undefined)
  const round = async (): Promise<boolean> => {
    const partitions = parts.partitions()
    forgetOthers(parts.metrics, memories, partitions)
    let isMoreToDo = false
    for (const partition of partitions) {
      if (stopping.signal.aborted) return false
      const startedMs = performance.now()
      if (!(await visit(parts, partition, memoryOf(memories, partition)))) continue
      isMoreToDo = true
      await rest(performance.now() - startedMs)
    }
    return isMoreToDo
  }
  const runForever = async (): Promise<void> => {
    await parts.mayStart
    while (!stopping.signal.aborted) {
      if (!(await round())) await rest(parts.intervalMs)
    }
  }
  return {
    // The job is not awaited before the tables exist, because they may never.
    start: async () => {
      void parts.mayStart.then(() => (running ??= runForever()))
    },
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}

function nameOf({ topic, partition }: Partition): string {
  return `${topic}/${partition}`
}

function memoryOf(memories: Map<string, Memory>, partition: Partition): Memory {
  const known = memories.get(nameOf(partition))
  if (known !== undefined) return known
  const memory = {
    failures: 0,
    notBeforeMs: 0,
    completeSight: undefined,
    completeAtMs: 0,
    verifiedAtMs: -Infinity,
  }
  memories.set(nameOf(partition), memory)
  return memory
}

/** Removes what is remembered and reported of partitions that another process has now. */
function forgetOthers(
  metrics: TotalsMetrics,
  memories: Map<string, Memory>,
  partitions: readonly Partition[],
): void {
  const names = new Set(partitions.map(nameOf))
  for (const name of memories.keys()) {
    if (names.has(name)) continue
    memories.delete(name)
    const [topic = '', partition = ''] = name.split('/')
    metrics.waitingRecords.remove({ topic, partition })
  }
}

/** Makes one step for the partition. Returns whether there may be more to do. */
async function visit(parts: TotalsJobParts, at: Partition, memory: Memory): Promise<boolean> {
  const { usageStore, cluster, rangeRecords, metrics } = parts
  const { topic, partition } = at
  const nowMs = performance.now()
  if (nowMs < memory.notBeforeMs) return false
  const logger = parts.logger.child({ topic, partition })
  try {
    const sight = await sightOf(at, rangeRecords)
    if (sight === memory.completeSight && nowMs - memory.completeAtMs < recheckMs) return false
    const isVerifyDue = nowMs - memory.verifiedAtMs >= verifyMs
    const step = await stepTotals({ ...at, usageStore, cluster, rangeRecords, isVerifyDue })
    // Other steps end before the comparison.
    const isVerified = isVerifyDue && (step.kind === 'totalled' || step.kind === 'complete')
    if (isVerified) memory.verifiedAtMs = nowMs
    metrics.waitingRecords.set({ topic, partition: String(partition) }, waitingOf(step))
    report(metrics, logger, topic, step, (performance.now() - nowMs) / 1000)
    if (step.kind === 'refused') return failed(memory, nowMs)
    memory.failures = 0
    memory.completeSight = step.kind === 'complete' ? sight : undefined
    memory.completeAtMs = nowMs
    return step.kind !== 'unsettled' && step.kind !== 'complete'
  } catch (error) {
    metrics.ranges.inc({ topic, result: 'failed' })
    logger.warn({ err: error }, 'totals of stored usage could not be made, will be retried')
    return failed(memory, nowMs)
  }
}

/** Returns a text that changes whenever a partition without ranges to total may have one. */
async function sightOf(
  { log, topic, partition }: Partition,
  rangeRecords: number,
): Promise<string> {
  const { note, offset } = await log.position(sinkGroup, topic, partition)
  return JSON.stringify([totalsStampOf(note), Math.floor(offset / rangeRecords)])
}

function failed(memory: Memory, nowMs: number): false {
  memory.failures = Math.min(memory.failures + 1, failuresMax)
  memory.notBeforeMs = nowMs + retryMs * 2 ** (memory.failures - 1)
  memory.completeSight = undefined
  return false
}

function waitingOf(step: TotalsStep): number {
  return 'waitingRecords' in step ? step.waitingRecords : 0
}

function report(
  metrics: TotalsMetrics,
  logger: Logger,
  topic: string,
  step: TotalsStep,
  seconds: number,
): void {
  if (step.kind === 'unsettled' || step.kind === 'complete') return
  const result = step.kind
  const { kind: _, ...details } = step
  metrics.ranges.inc({ topic, result }, 'versions' in step ? step.versions : 1)
  if (result === 'refused') {
    logger.error(details, 'totals of stored usage differ from the records or are outdated')
  } else {
    logger.info({ ...details, result, seconds }, 'totals of stored usage')
  }
}
