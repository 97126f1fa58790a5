import type { EventLog, ReadLimits } from '@tollgate/platform/event-log/event-log'
import { LogDamagedError } from '@tollgate/platform/event-log/log-damaged-error'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { Environment } from '@tollgate/schemas/environment'
import type { TraceBatch } from './trace-batches.ts'

/** One log partition with the log and the hot state. */
export type Partition = {
  readonly log: EventLog
  readonly hotState: HotState
  /** Selects the space in HotState and the database in ClickHouse. */
  readonly environment: Environment
  readonly topic: string
  readonly partition: number
}

/** Dependencies of a projection of one log partition. */
export type PartitionParts = Partition & {
  readonly readLimits: ReadLimits
  readonly traceBatch: TraceBatch
}

/**
 * The position is outside of the log: its records were trimmed, or the log is not the one that the position belongs to. The
 * projection stops with this error, because it would skip records without notice if it continued.
 */
export class PositionOutsideLogError extends Error {
  override readonly name = 'PositionOutsideLogError'
}

/** Returns the head of the partition. Throws PositionOutsideLogError if the position is outside of the log. */
export async function checkPosition(parts: Partition, position: number): Promise<number> {
  const { log, topic, partition } = parts
  const [oldest, head] = await Promise.all([
    log.oldest(topic, partition),
    log.head(topic, partition),
  ])
  if (position >= oldest && position <= head) return head
  throw new PositionOutsideLogError(
    `${topic}/${partition} holds offsets ${oldest} to ${head}, but the projection is at ${position}`,
  )
}

/** Returns when the oldest record in the log was received, in Unix milliseconds, or undefined if the log is empty. */
export async function oldestRecordMs(parts: Partition): Promise<number | undefined> {
  const { log, topic, partition } = parts
  let offset = await log.oldest(topic, partition)
  for (;;) {
    try {
      const [record] = await log.read(topic, partition, offset, { recordsMax: 1, bytesMax: 1 })
      return record?.receivedAtMs
    } catch (error) {
      // The records of a damaged segment are never read again, so they need no marks.
      if (!(error instanceof LogDamagedError)) throw error
      offset = error.readableFrom
    }
  }
}
