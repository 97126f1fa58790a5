import { setTimeout as sleep } from 'node:timers/promises'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { UsageBehindError } from '../entitlements/usage-behind-error.ts'
import type { StoredPart } from './query-stored-usage.ts'

/** Up to where the usage store holds what was recorded. */
export type StoredUpTo = {
  /** All usage that was acknowledged before is in `parts`. */
  readonly watermark: Date
  /** Their rows are all there, and none of them changes any more. */
  readonly parts: readonly StoredPart[]
}

type Log = Pick<EventLog, 'head' | 'position'>

const pollIntervalMs = 20

/**
 * Waits until the usage store holds everything that was acknowledged before this was called, and says up to where. The
 * order makes it so: the time, then the heads of the log, which are behind whatever was acknowledged before; then the
 * sink's positions, which move when the rows before them are stored. Throws UsageBehindError when that takes longer than
 * `waitMs`, or where the sink has lost its place and stores it all again.
 */
export async function waitUntilStored(
  log: Log,
  topic: string,
  partitions: readonly number[],
  now: () => Date,
  waitMs: number,
): Promise<StoredUpTo> {
  const deadlineMs = performance.now() + waitMs
  const watermark = now()
  const heads = await Promise.all(
    partitions.map(async (partition) => ({ partition, head: await log.head(topic, partition) })),
  )
  for (;;) {
    const positions = await Promise.all(
      partitions.map((partition) => storedOffset(log, topic, partition)),
    )
    const behind = heads.reduce(
      (sum, { head }, index) => sum + Math.max(0, head - positions[index]!),
      0,
    )
    if (behind === 0) {
      const parts = heads.map(({ partition }, index) => ({
        partition,
        beforeOffset: positions[index]!,
      }))
      await refuseOtherLog(log, topic, parts)
      return { watermark, parts }
    }
    if (performance.now() >= deadlineMs) throw new UsageBehindError(behind)
    await sleep(pollIntervalMs)
  }
}

/** Every record with a smaller offset is stored. Without a note no sink has begun, or its position was lost. */
async function storedOffset(log: Log, topic: string, partition: number): Promise<number> {
  const { offset, note } = await log.position(sinkGroup, topic, partition)
  return note === '' ? 0 : offset
}

/** A position behind the end of the log is of another log, whose records say nothing about this one's. */
async function refuseOtherLog(log: Log, topic: string, parts: readonly StoredPart[]) {
  for (const { partition, beforeOffset } of parts) {
    const head = await log.head(topic, partition)
    if (beforeOffset > head) throw new UsageBehindError(head)
  }
}
