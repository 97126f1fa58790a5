import { setTimeout as sleep } from 'node:timers/promises'
import type { EventLog, GroupPosition } from '@tollgate/platform/event-log/event-log'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import type { Environment } from '@tollgate/schemas/environment'
import { usageTopic } from '@tollgate/schemas/topics'
import { UsageBehindError } from '../entitlements/usage-behind-error.ts'
import type { StoredPart } from './query-stored-usage.ts'
import { isComparedStore } from './store-incarnation.ts'
import { totalsStampOf } from './totalled-ranges.ts'

/** How far the usage store has stored records. */
export type StoredUpTo = {
  /** All usage acknowledged before this time is in `parts`. */
  readonly watermark: Date
  /** All rows of these parts are stored and no longer change. */
  readonly parts: readonly StoredPart[]
  /**
   * The sink's notes, which name the incarnation of the store to which `parts` apply. Sums are checked against it after they are
   * read.
   */
  readonly notes: readonly string[]
}

export type StoredUsageParts = {
  readonly eventLog: Log
  readonly usageStore: Pick<UsageStore, 'query'>
}

type Log = Pick<EventLog, 'head' | 'position'>

const pollIntervalMs = 20
/** The sink reads the incarnation of the store every 2 seconds. */
const comparedPollIntervalMs = 200

/**
 * Waits until the usage store has everything acknowledged before the call, and returns how far it has stored. The order guarantees
 * this: first the time is taken, then the heads of the log, which are after everything acknowledged before. Then it waits for the
 * sink's positions, which move when the rows before them are stored. Throws UsageBehindError if that takes longer than `waitMs`, or
 * if the sink has lost its position and stores everything again. A store that has restarted may lack rows until the sink has
 * compared it with the log.
 */
export async function waitUntilStored(
  { eventLog: log, usageStore }: StoredUsageParts,
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
      const parts = heads.map(({ partition }, index) => storedPart(partition, positions[index]!))
      await refuseOtherLog(log, topic, parts)
      return { watermark, parts, notes }
    }
    if (performance.now() >= deadlineMs) throw new UsageBehindError(behind)
    await sleep(behind === 0 ? comparedPollIntervalMs : pollIntervalMs)
  }
}

/** Returns how far the usage store has stored records now, without waiting for what was acknowledged. */
export async function storedSoFar(
  { eventLog: log }: { readonly eventLog: Log },
  environment: Environment,
  partitions: readonly number[],
  now: () => Date,
): Promise<StoredUpTo> {
  const topic = usageTopic(environment)
  const watermark = now()
  const positions = await Promise.all(
    partitions.map((partition) => log.position(sinkGroup, topic, partition)),
  )
  const parts = partitions.map((partition, index) => storedPart(partition, positions[index]!))
  await refuseOtherLog(log, topic, parts)
  return { watermark, parts, notes: positions.map(({ note }) => note) }
}

function storedPart(partition: number, position: GroupPosition): StoredPart {
  return {
    partition,
    beforeOffset: storedOffset(position),
    totals: totalsStampOf(position.note),
  }
}

/**
 * Returns the offset before which every record is stored. A missing note means that no sink has begun, or that its position was
 * lost.
 */
function storedOffset({ offset, note }: GroupPosition): number {
  return note === '' ? 0 : offset
}

/**
 * Throws UsageBehindError if a position is after the end of the log. Such a position belongs to another log, so it does not apply
 * to this one.
 */
async function refuseOtherLog(log: Log, topic: string, parts: readonly StoredPart[]) {
  for (const { partition, beforeOffset } of parts) {
    const head = await log.head(topic, partition)
    if (beforeOffset > head) throw new UsageBehindError(head)
  }
}
