import type { EventLog, ReadLimits } from '@tollgate/platform/event-log/event-log'
import { LogDamagedError } from '@tollgate/platform/event-log/log-damaged-error'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { Environment } from '@tollgate/schemas/environment'
import type { TraceBatch } from './trace-batches.ts'

/** One log partition and what lies around it. */
export type Partition = {
  readonly log: EventLog
  readonly hotState: HotState
  /** Names the world in HotState and the database in ClickHouse. */
  readonly environment: Environment
  readonly topic: string
  readonly partition: number
}

/** What a projection of one log partition works with. */
export type PartitionParts = Partition & {
  readonly readLimits: ReadLimits
  readonly traceBatch: TraceBatch
}

/**
 * A position that the log does not hold: trimmed away, or beyond its end because the log is not the one the position
 * was made for. Going on would skip records without a word, so the projection stays where it is and says so.
 */
export class PositionOutsideLogError extends Error {
  override readonly name = 'PositionOutsideLogError'
}

/** Returns the head of the partition, which the position may have reached. */
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

/** When the oldest record that the log still has was received, Unix milliseconds; undefined: it has none. */
export async function oldestRecordMs(parts: Partition): Promise<number | undefined> {
  const { log, topic, partition } = parts
  let offset = await log.oldest(topic, partition)
  for (;;) {
    try {
      const [record] = await log.read(topic, partition, offset, { recordsMax: 1, bytesMax: 1 })
      return record?.receivedAtMs
    } catch (error) {
      // Nobody reads the records of a damaged segment again, so they need no marks.
      if (!(error instanceof LogDamagedError)) throw error
      offset = error.readableFrom
    }
  }
}
