import { setImmediate as nextTurn } from 'node:timers/promises'
import type { EventLog, LogRecord } from '@tollgate/platform/event-log/event-log'
import { LogDamagedError } from '@tollgate/platform/event-log/log-damaged-error'
import type { NoteLease } from '@tollgate/platform/event-log/note-lease/note-lease'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { Logger } from '@tollgate/platform/observability/logger'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { MeterEventFormatError } from '@tollgate/schemas/meter-event'
import { decodeMeterEvent } from '@tollgate/schemas/meter-event-codec'
import { usageTopic } from '@tollgate/schemas/topics'
import type { IngestCounts } from '../metrics.ts'
import type { RecentKeys } from './recent-keys.ts'

const readLimits = { recordsMax: 10_000, bytesMax: 8 * 1024 * 1024 }

export type RecentKeysParts = {
  readonly log: EventLog
  readonly hotState: Pick<HotState, 'appliedOffset'>
  readonly recentKeys: RecentKeys
  readonly counts: Pick<IngestCounts, 'unreadKeyRanges'>
  /** Undefined if limit checks ask the log for every head. */
  readonly noteLease: Pick<NoteLease, 'acknowledge'> | undefined
  readonly logger: Logger
}

/**
 * Loads the keys that were acknowledged before this process started and have no deduplication mark yet, so that a client that
 * retries across a crash gets 'duplicate'. It reads at most `recordsMax` records, the newest of each partition, so that a large
 * backlog of the counters projection does not delay the start.
 *
 * Parts of the log that cannot be read do not prevent the start either. A retry of a key in such a part is answered as new and
 * appended once more. This changes no sum: counters and sink use only the first offset of a key, according to the marks of the hot
 * state. If the marks are lost, they are rebuilt from the idempotency keys in ClickHouse.
 */
export async function loadRecentKeys(parts: RecentKeysParts, recordsMax: number): Promise<void> {
  for (const environment of environments) {
    const topic = usageTopic(environment)
    const partitionCount = parts.log.partitionCount(topic)
    const share = Math.ceil(recordsMax / partitionCount)
    for (let partition = 0; partition < partitionCount; partition++) {
      try {
        await loadPartition(parts, environment, partition, share)
      } catch (error) {
        reportUnreadRange(parts, { err: error, topic, partition })
      }
    }
  }
}

function reportUnreadRange(
  { counts, logger }: RecentKeysParts,
  what: Readonly<Record<string, unknown>>,
): void {
  counts.unreadKeyRanges += 1
  logger.error(
    what,
    'the idempotency keys in a part of the event log cannot be read: a retry with one of them is answered as new, but counted once',
  )
}

async function loadPartition(
  parts: RecentKeysParts,
  environment: Environment,
  partition: number,
  recordsMax: number,
): Promise<void> {
  const { log, hotState, recentKeys, noteLease } = parts
  const topic = usageTopic(environment)
  const applied = await hotState.appliedOffset(environment, partition)
  const head = await log.head(topic, partition)
  const oldest = await log.oldest(topic, partition)
  let offset = Math.max(applied, head - recordsMax, oldest)
  while (offset < head) {
    const records = await readOrSkip(parts, topic, partition, offset)
    if (typeof records === 'number') {
      offset = records
      continue
    }
    if (records.length === 0) return
    offset = records.at(-1)!.offset + 1
    const keyed = records.flatMap((record) => {
      const id = keyedId(record.value)
      return id === undefined ? [] : [{ id, offset: record.offset }]
    })
    // The process that appended them may have died before it could acknowledge them, and the answer 'duplicate' does that.
    if (keyed.length > 0) await noteLease?.acknowledge(topic, partition, offset)
    for (const each of keyed) recentKeys.add(environment, partition, each.id, each.offset)
    // Records that were read already are returned at once. While they are many, other processes wait for this one to let them open
    // what it has open too.
    await nextTurn()
  }
}

/** Returns the records, or the offset after a damaged segment from which reading can continue. */
async function readOrSkip(
  parts: RecentKeysParts,
  topic: string,
  partition: number,
  offset: number,
): Promise<LogRecord[] | number> {
  try {
    return await parts.log.read(topic, partition, offset, readLimits)
  } catch (error) {
    if (!(error instanceof LogDamagedError)) throw error
    reportUnreadRange(parts, {
      err: error,
      topic,
      partition,
      fromOffset: offset,
      toOffset: error.readableFrom,
    })
    return error.readableFrom
  }
}

function keyedId(value: Uint8Array): string | undefined {
  try {
    const event = decodeMeterEvent(value)
    return event.idempotencyKey === null ? undefined : event.id
  } catch (error) {
    // The projections report unreadable records. Here, such a record has no key.
    if (error instanceof MeterEventFormatError) return undefined
    throw error
  }
}
