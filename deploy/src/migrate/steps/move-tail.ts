import type { Environment } from '@tollgate/schemas/environment'
import { environments } from '@tollgate/schemas/environment'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { StartRefusedError } from '../../standalone/start-refused.ts'
import { readTail, countTail, type TailRecord } from '../source/read-tail.ts'
import type { Source } from '../source/source.ts'
import type { Target } from '../target/target.ts'
import type { Work } from '../work.ts'
import { firstMovedOffset } from './begin-log.ts'
import { encodeEvent } from './encode-event.ts'
import { RecordCursor } from './record-cursor.ts'

const recordsInFlightMax = 2_000

/**
 * Appends the records that the source's log has beyond its ClickHouse, in a fixed order across all partitions. The records that a
 * target partition already contains must be a prefix of these records. They are compared one by one, and the rest is appended.
 *
 * A failed append may have stored only some of its records, or may have left a gap. The next run treats the first case as a normal
 * prefix and refuses to continue in the second.
 */
export async function moveTail(source: Source, target: Target, work: Work): Promise<void> {
  for (const environment of environments) {
    work.expect(countTail(source, environment))
    const topic = usageTopic(environment)
    const cursors = await openCursors(target, environment)
    let inFlight: Promise<unknown>[] = []
    for await (const record of readTail(source, environment)) {
      const moved = movedRecord(record, target, environment)
      const cursor = cursors[moved.partition]!
      if (!cursor.isAtEnd) {
        if (!(await cursor.takeIfEqual(moved))) throw otherRecords(topic, moved.partition)
        work.advance(1)
        continue
      }
      const { partition, value, receivedAtMs, key } = moved
      inFlight.push(target.log.append(topic, partition, value, receivedAtMs, key))
      if (inFlight.length < recordsInFlightMax) continue
      await awaitAppends(inFlight, work)
      inFlight = []
    }
    await awaitAppends(inFlight, work)
    const longer = cursors.findIndex((cursor) => !cursor.isAtEnd)
    if (longer >= 0) throw otherRecords(topic, longer)
  }
}

export type MovedTailRecord = {
  readonly partition: number
  readonly value: Uint8Array
  readonly receivedAtMs: number
  readonly key: string | undefined
}

/**
 * Returns a record of the tail as it is written to the target's log. An undecodable record keeps its bytes and goes to any
 * partition.
 */
export function movedRecord(
  record: TailRecord,
  { schemaId, partitionCount }: Pick<Target, 'schemaId' | 'partitionCount'>,
  environment: Environment,
): MovedTailRecord {
  const { event, receivedAtMs, value } = record
  const partitions = partitionCount(environment)
  if (event === undefined) {
    return { partition: record.partition % partitions, value, receivedAtMs, key: undefined }
  }
  const key = subjectKey(event.providerId, event.customerRef)
  return {
    partition: partitionOf(key, partitions),
    value: encodeEvent(event, schemaId),
    receivedAtMs,
    key,
  }
}

/** Returns a cursor for each partition of the target, at its first moved record. */
export async function openCursors(
  { log, partitionCount }: Target,
  environment: Environment,
): Promise<RecordCursor[]> {
  const topic = usageTopic(environment)
  return await Promise.all(
    Array.from({ length: partitionCount(environment) }, async (_, partition) => {
      const head = await log.head(topic, partition)
      return new RecordCursor(log, topic, partition, firstMovedOffset, head)
    }),
  )
}

async function awaitAppends(appends: readonly Promise<unknown>[], work: Work): Promise<void> {
  const failed = (await Promise.allSettled(appends)).find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
  work.advance(appends.length)
  work.signal.throwIfAborted()
}

function otherRecords(topic: string, partition: number): StartRefusedError {
  return new StartRefusedError(
    `Kafka has records in ${topic}/${partition} that are not of this move. ` +
      'Empty the engines, then migrate again.',
  )
}
