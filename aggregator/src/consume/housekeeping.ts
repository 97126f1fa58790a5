import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Service } from '@tollgate/platform/service/service'
import { countersGroup } from '@tollgate/schemas/consumer-groups'
import { sweepLimits, type Retention } from '../domain/retention.ts'
import { oldestRecordMs, type Partition } from './partition-parts.ts'

export type HousekeepingParts = {
  /** The partitions whose counters this process keeps now. */
  readonly partitions: () => readonly Partition[]
  readonly clock: Clock
  readonly logger: Logger
  readonly retention: Retention
  /** Resolves with whether the hot state has the windows of all customers of the partition. */
  readonly isPublished: (at: Partition) => Promise<boolean>
  readonly intervalMs: number
}

/** Pause between two sweeps in milliseconds. HotState has one writer at a time, so other writers need time in between. */
const sweepPauseMs = 20

/**
 * Returns a service that deletes expired data, partition by partition, in bounded steps. A later round deletes what a round leaves.
 */
export function createHousekeeping(parts: HousekeepingParts): Service {
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  const runForever = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await sleep(parts.intervalMs, undefined, { signal: stopping.signal }).catch(() => undefined)
      for (const partition of parts.partitions()) {
        if (stopping.signal.aborted) return
        await runHousekeeping(parts, partition, stopping.signal).catch((error: unknown) => {
          const { topic, partition: number } = partition
          parts.logger.warn(
            { err: error, topic, partition: number },
            'expired data could not be deleted, will be retried',
          )
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
 * Runs one round for one partition. Nothing is swept while windows are missing that the data may belong to. The log itself is
 * trimmed by ingest, which writes it.
 */
export async function runHousekeeping(
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
 * Sets the position of the group `counters` to the offset that HotState has applied. It may move backwards: after a loss of
 * HotState the counters need the old records again, and the trimmer keeps records after this position.
 */
async function followCounters({ log, hotState, environment, topic, partition }: Partition) {
  const stored = await log.position(countersGroup, topic, partition)
  const offset = await hotState.appliedOffset(environment, partition)
  if (stored.offset === offset) return
  await log.commit(countersGroup, topic, partition, stored, { offset, note: stored.note })
}
