import type { EventLog, LogRecord } from '@tollgate/platform/event-log/event-log'
import { LogDamagedError } from '@tollgate/platform/event-log/log-damaged-error'
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
  readonly counts: Pick<IngestCounts, 'unreadKeyStretches'>
  readonly logger: Logger
}

/**
 * Learns the keys that were acknowledged before this process started and have no mark so far, so that a client which
 * retries across a crash is told 'duplicate'. Reads no more records than `recordsMax`, the newest of each partition:
 * a projection that was away for long must not hold up the start.
 *
 * Nor may a log that cannot be read in places. A retry of a key that stands there is answered as if it were new and
 * appended once more. That changes no sum: counters and sink count and store the first offset of a key only, by the marks
 * of the hot state, which are made again from the idempotency keys in ClickHouse where they are lost.
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
        passOver(parts, { err: error, topic, partition })
      }
    }
  }
}

function passOver(
  { counts, logger }: RecentKeysParts,
  what: Readonly<Record<string, unknown>>,
): void {
  counts.unreadKeyStretches += 1
  logger.error(
    what,
    'recent keys cannot be read from a part of the log: a retry of one is answered as new, and counted once',
  )
}

async function loadPartition(
  parts: RecentKeysParts,
  environment: Environment,
  partition: number,
  recordsMax: number,
): Promise<void> {
  const { log, hotState, recentKeys } = parts
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
    for (const record of records) {
      const id = keyedId(record.value)
      if (id !== undefined) recentKeys.add(environment, partition, id, record.offset)
    }
    offset = records.at(-1)!.offset + 1
  }
}

/** Returns the records, or where to go on behind a damaged segment. */
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
    passOver(parts, {
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
    // The projections report unreadable records; here they only have no key.
    if (error instanceof MeterEventFormatError) return undefined
    throw error
  }
}
