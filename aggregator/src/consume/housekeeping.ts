import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Service } from '@tollgate/platform/service/service'
import { countersGroup } from '@tollgate/schemas/consumer-groups'
import { sweepLimits, type Retention } from '../domain/retention.ts'
import { oldestRecordMs, type Partition } from './partition-parts.ts'

export type HousekeepingParts = {
  /** Those whose counters are kept here now. */
  readonly partitions: () => readonly Partition[]
  readonly clock: Clock
  readonly logger: Logger
  readonly retention: Retention
  /** Whether hot state has the windows of all customers of the partition. */
  readonly isPublished: (at: Partition) => Promise<boolean>
  readonly intervalMs: number
}

/** HotState has one writer at a time: between two sweeps others get their turn. */
const sweepPauseMs = 20

/** Deletes what has expired, partition by partition, a bounded amount at a time. What it leaves, it finds next time. */
export function createHousekeeping(parts: HousekeepingParts): Service {
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  const runForever = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await sleep(parts.intervalMs, undefined, { signal: stopping.signal }).catch(() => undefined)
      for (const partition of parts.partitions()) {
        if (stopping.signal.aborted) return
        await keepHouse(parts, partition, stopping.signal).catch((error: unknown) => {
          const { topic, partition: number } = partition
          parts.logger.warn({ err: error, topic, partition: number }, 'housekeeping failed')
        })
      }
    }
  }
  return {
    start: async () => {
      running ??= runForever()
    },
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}

/**
 * One round over one partition. Nothing is old while windows are missing that it may belong to. The log itself is
 * trimmed by the process that writes it.
 */
export async function keepHouse(
  housekeeping: Pick<HousekeepingParts, 'clock' | 'retention' | 'isPublished'>,
  parts: Partition,
  signal: AbortSignal,
): Promise<void> {
  if (await housekeeping.isPublished(parts)) await sweepExpired(housekeeping, parts, signal)
  await followCounters(parts)
}

async function sweepExpired(
  { clock, retention }: Pick<HousekeepingParts, 'clock' | 'retention'>,
  parts: Partition,
  signal: AbortSignal,
): Promise<void> {
  const limits = sweepLimits(retention, clock.now(), await oldestRecordMs(parts))
  for (;;) {
    const swept = await parts.hotState.sweep(parts.environment, parts.partition, limits)
    if (swept < limits.keysMax || signal.aborted) break
    await sleep(sweepPauseMs)
  }
}

/**
 * Puts the group's position where HotState says the counters are. It may go backwards: after a loss of HotState the
 * counters need the old records again, and from here on the trimmer leaves them alone.
 */
async function followCounters({ log, hotState, environment, topic, partition }: Partition) {
  const stored = await log.position(countersGroup, topic, partition)
  const offset = await hotState.appliedOffset(environment, partition)
  if (stored.offset === offset) return
  await log.commit(countersGroup, topic, partition, stored, { offset, note: stored.note })
}
