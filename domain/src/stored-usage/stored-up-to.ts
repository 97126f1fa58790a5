import { setTimeout as sleep } from 'node:timers/promises'
import type { EventLog, GroupPosition } from '@tollgate/platform/event-log/event-log'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import type { Environment } from '@tollgate/schemas/environment'
import { usageTopic } from '@tollgate/schemas/topics'
import { UsageBehindError } from '../entitlements/usage-behind-error.ts'
import type { StoredPart } from './query-stored-usage.ts'
import { isComparedStore } from './store-incarnation.ts'

/** Up to where the usage store holds what was recorded. */
export type StoredUpTo = {
  /** All usage that was acknowledged before is in `parts`. */
  readonly watermark: Date
  /** Their rows are all there, and none of them changes any more. */
  readonly parts: readonly StoredPart[]
  /** The sink's notes, which name the incarnation of the store that `parts` are true of. Sums are checked against it after they are read. */
  readonly notes: readonly string[]
}

export type StoredSides = {
  readonly eventLog: Log
  readonly usageStore: Pick<UsageStore, 'query'>
}

type Log = Pick<EventLog, 'head' | 'position'>

const pollIntervalMs = 20
/** The sink reads the incarnation of the store every two seconds. */
const comparedPollIntervalMs = 200

/**
 * Waits until the usage store holds everything that was acknowledged before this was called, and says up to where. The
 * order makes it so: the time, then the heads of the log, which are behind whatever was acknowledged before; then the
 * sink's positions, which move when the rows before them are stored. Throws UsageBehindError when that takes longer than
 * `waitMs`, or where the sink has lost its place and stores it all again. A store that has restarted may lack rows, until
 * the sink has compared it with the log.
 */
export async function waitUntilStored(
  { eventLog: log, usageStore }: StoredSides,
  environment: Environment,
  partitions: readonly number[],
  now: () => Date,
  waitMs: number,
): Promise<StoredUpTo> {
  const topic = usageTopic(environment)
  const deadlineMs = performance.now() + waitMs
  const watermark = now()
  const heads = await Promise.all(
    partitions.map(async (partition) => ({ partition, head: await log.head(topic, partition) })),
  )
  for (;;) {
    const positions = await Promise.all(
      partitions.map((partition) => log.position(sinkGroup, topic, partition)),
    )
    const behind = heads.reduce(
      (sum, { head }, index) => sum + Math.max(0, head - storedOffset(positions[index]!)),
      0,
    )
    const notes = positions.map(({ note }) => note)
    const isCompared = behind === 0 && (await isComparedStore(usageStore, environment, notes))
    if (isCompared) {
      const parts = heads.map(({ partition }, index) => ({
        partition,
        beforeOffset: storedOffset(positions[index]!),
      }))
      await refuseOtherLog(log, topic, parts)
      return { watermark, parts, notes }
    }
    if (performance.now() >= deadlineMs) throw new UsageBehindError(behind)
    await sleep(behind === 0 ? comparedPollIntervalMs : pollIntervalMs)
  }
}

/** Every record with a smaller offset is stored. Without a note no sink has begun, or its position was lost. */
function storedOffset({ offset, note }: GroupPosition): number {
  return note === '' ? 0 : offset
}

/** A position behind the end of the log is of another log, whose records say nothing about this one's. */
async function refuseOtherLog(log: Log, topic: string, parts: readonly StoredPart[]) {
  for (const { partition, beforeOffset } of parts) {
    const head = await log.head(topic, partition)
    if (beforeOffset > head) throw new UsageBehindError(head)
  }
}
