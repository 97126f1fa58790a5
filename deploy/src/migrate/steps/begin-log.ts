import { setTimeout as sleep } from 'node:timers/promises'
import { randomUUID } from 'node:crypto'
import { firstNote, readSinkNote, writeSinkNote } from '@tollgate/schemas/sink-note'
import type { GroupMembership } from '@tollgate/platform/event-log/event-log'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { environments, type Environment } from '@tollgate/schemas/environment'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { usageTopic } from '@tollgate/schemas/topics'
import { beginTelling } from '@tollgate/domain/usage-events/positions'
import { StartRefusedError } from '../../standalone/start-refused.ts'
import type { Target } from '../target/target.ts'
import type { Work } from '../work.ts'
import { encodeEvent } from './encode-event.ts'

/** The offset of the first record that is moved into a partition. */
export const firstMovedOffset = 1

/**
 * Begins each partition of the target as one whose oldest records were stored and trimmed: the sink's position is put
 * behind a first record, which counts nothing, and that record is deleted. So whoever finds no counts of a partition
 * finds also that the log does not go back to their beginning, and makes them from ClickHouse.
 *
 * Order: position, record, deletion. Killed in between, the next run finds what is there and does the rest.
 */
export async function beginLog(target: Target, work: Work): Promise<void> {
  const partitions = environments.flatMap((environment) =>
    Array.from({ length: target.partitionCount(environment) }, (_, partition) => ({
      environment,
      partition,
    })),
  )
  work.expect(partitions.length)
  const unplaced = []
  for (const at of partitions) if (!(await isPlaced(target, at))) unplaced.push(at)
  if (unplaced.length > 0) await placeSink(target, unplaced, work)
  for (const { environment, partition } of partitions) {
    work.signal.throwIfAborted()
    const topic = usageTopic(environment)
    if ((await target.log.head(topic, partition)) === 0) {
      const value = encodeEvent(firstRecord(environment, partition), target.schemaId)
      await target.log.appendAll(topic, [{ partition, value }], Date.now())
    }
    await trimFirst(target, topic, partition)
    await tellFromHere(target, { environment, partition })
    work.advance(1)
  }
}

/** Endpoints are told of all that comes after it: nobody was told of the log's tail at the source. */
async function tellFromHere(
  { database }: Target,
  { environment, partition }: Place,
): Promise<void> {
  await beginTelling(database.in(environment), new Map([[partition, firstMovedOffset]]))
}

async function trimFirst({ log }: Target, topic: string, partition: number): Promise<void> {
  if ((await log.oldest(topic, partition)) === firstMovedOffset) return
  // However old the records are: only the sink's position holds the deletion up.
  await log.trim(topic, partition, Date.now() + anyAgeMs, [sinkGroup])
  const oldest = await log.oldest(topic, partition)
  if (oldest !== firstMovedOffset) throw new Error(`${topic}/${partition} begins at ${oldest}`)
}

const anyAgeMs = 86_400_000

type Place = { readonly environment: Environment; readonly partition: number }

async function isPlaced({ log }: Target, { environment, partition }: Place): Promise<boolean> {
  const { offset, note } = await log.position(sinkGroup, usageTopic(environment), partition)
  if (offset === 0 && note === '') return false
  if (offset === firstMovedOffset && readSinkNote(note)?.hasMovedRecords === true) return true
  throw servicesRun()
}

async function placeSink(target: Target, places: readonly Place[], work: Work): Promise<void> {
  const { log } = target
  const assigned = new Set<string>()
  const keyOf = (topic: string, partition: number): string => `${topic}/${partition}`
  const membership = await log.join(sinkGroup, environments.map(usageTopic), {
    assigned: (topic, partition) => void assigned.add(keyOf(topic, partition)),
    revoked: async (topic, partition) => void assigned.delete(keyOf(topic, partition)),
  })
  try {
    const wanted = places.map((at) => keyOf(usageTopic(at.environment), at.partition))
    await untilAlone(membership, () => wanted.every((key) => assigned.has(key)), work.signal)
    for (const { environment, partition } of places) {
      const note = writeSinkNote({ ...firstNote(randomUUID()), hasMovedRecords: true })
      await log.commit(
        sinkGroup,
        usageTopic(environment),
        partition,
        { offset: 0, note: '' },
        { offset: firstMovedOffset, note },
      )
    }
  } finally {
    await membership.leave()
  }
}

/** A member of an earlier run that was killed is in the group until its session ends. */
const aloneWithinMs = 60_000

/** Waits until no other member has any of the partitions. */
async function untilAlone(
  membership: GroupMembership,
  hasAll: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + aloneWithinMs
  while (!membership.isJoined || !hasAll()) {
    if (performance.now() > deadline) throw servicesRun()
    signal.throwIfAborted()
    await sleep(50)
  }
}

function servicesRun(): StartRefusedError {
  return new StartRefusedError(
    "Services use the engines already: an aggregator has taken up the sink's work. " +
      'End all services there; what they have begun must be emptied before a move.',
  )
}

/** A meter event like any other, for those who read the topics before it is deleted. It counts nothing. */
function firstRecord(environment: Environment, partition: number): MeterEvent {
  const nowMs = Date.now()
  return {
    id: `usage_begin_${environment}_${partition}`,
    providerId: '',
    customerRef: '',
    meterName: 'requests',
    value: 0,
    timestamp: nowMs,
    receivedAt: nowMs,
    productRef: null,
    purchaseRef: null,
    outcome: 'fail',
    source: 'migrate',
    idempotencyKey: null,
    properties: '{}',
    reservationId: null,
    traceParent: null,
    debit: null,
  }
}
