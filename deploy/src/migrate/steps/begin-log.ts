import { setTimeout as sleep } from 'node:timers/promises'
import { randomUUID } from 'node:crypto'
import { firstNote, readSinkNote, writeSinkNote } from '@tollgate/schemas/sink-note'
import type { GroupMembership } from '@tollgate/platform/event-log/event-log'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { withoutCounts, type MeterEvent } from '@tollgate/schemas/meter-event'
import { usageTopic } from '@tollgate/schemas/topics'
import { startPositions } from '@tollgate/domain/postgres/log-positions'
import { StartRefusedError } from '../../standalone/start-refused.ts'
import type { Target } from '../target/target.ts'
import type { Work } from '../work.ts'
import { encodeEvent } from './encode-event.ts'

/** Offset of the first record that is moved into a partition. */
export const firstMovedOffset = 1

/**
 * Prepares each partition of the target as if its oldest records had been stored and trimmed. The sink's position is set to the
 * offset after a first record that counts nothing, and that record is deleted. A reader that finds no counts for a partition then
 * also finds that the log does not reach back to the beginning, and rebuilds the counts from ClickHouse.
 *
 * Order: position, record, deletion. After a kill in between, the next run finds which steps are done and does the rest.
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
  for (const at of partitions) if (!(await isSinkPlaced(target, at))) unplaced.push(at)
  if (unplaced.length > 0) await placeSink(target, unplaced, work)
  for (const { environment, partition } of partitions) {
    work.signal.throwIfAborted()
    const topic = usageTopic(environment)
    if ((await target.log.head(topic, partition)) === 0) {
      const value = encodeEvent(firstRecord(environment, partition), target.schemaId)
      await target.log.appendAll(topic, [{ partition, value }], Date.now())
    }
    await trimFirstRecord(target, topic, partition)
    await startJobs(target, { environment, partition })
    work.advance(1)
  }
}

/** Starts usage events and alerts at the first moved record, because the source did not handle the moved records. */
async function startJobs({ database }: Target, { environment, partition }: Place): Promise<void> {
  const begin = new Map([[partition, firstMovedOffset]])
  await startPositions(database.in(environment), 'usage_event_positions', begin)
  await startPositions(database.in(environment), 'alert_positions', begin)
}

async function trimFirstRecord({ log }: Target, topic: string, partition: number): Promise<void> {
  if ((await log.oldest(topic, partition)) === firstMovedOffset) return
  // The age limit lies in the future, so only the sink's position limits the deletion.
  await log.trim(topic, partition, Date.now() + futureMs, [sinkGroup])
  const oldest = await log.oldest(topic, partition)
  if (oldest !== firstMovedOffset) throw new Error(`${topic}/${partition} begins at ${oldest}`)
}

const futureMs = 86_400_000

type Place = { readonly environment: Environment; readonly partition: number }

async function isSinkPlaced({ log }: Target, { environment, partition }: Place): Promise<boolean> {
  const { offset, note } = await log.position(sinkGroup, usageTopic(environment), partition)
  if (offset === 0 && note === '') return false
  if (offset === firstMovedOffset && readSinkNote(note)?.hasMovedRecords === true) return true
  throw servicesRunning()
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
    await untilSoleMember(membership, () => wanted.every((key) => assigned.has(key)), work.signal)
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

/**
 * Maximum milliseconds to wait for other members. A member of an earlier run that was killed stays in the group until its session
 * expires.
 */
const soleMemberWithinMs = 60_000

/** Waits until no other member of the group has any of the partitions. */
async function untilSoleMember(
  membership: GroupMembership,
  hasAll: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + soleMemberWithinMs
  while (!membership.isJoined || !hasAll()) {
    if (performance.now() > deadline) throw servicesRunning()
    signal.throwIfAborted()
    await sleep(50)
  }
}

function servicesRunning(): StartRefusedError {
  return new StartRefusedError(
    'Services already run on these engines: an aggregator has begun to read the log. ' +
      'Stop all services there, empty the engines, then migrate again.',
  )
}

/** Returns a valid meter event that counts nothing, for consumers that read the topic before the record is deleted. */
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
    ...withoutCounts,
  }
}
