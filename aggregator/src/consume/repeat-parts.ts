import type { LogRecord } from '@tollgate/platform/event-log/event-log'
import { LogDamagedError } from '@tollgate/platform/event-log/log-damaged-error'
import type { SettledReservation } from '@tollgate/platform/hot-state/reservations'
import { BatchDecoder } from '../domain/decode-batch.ts'
import type { EventRecord } from '../domain/decoded-batch.ts'
import { marksOfBatch, resolveFirstOffsets } from '../domain/first-offsets.ts'
import { settledReservations } from '../domain/settled-reservations.ts'
import type { PartitionParts } from './partition-parts.ts'
import { settleInOtherPartitions } from './run-counters-batch.ts'

/**
 * Age in milliseconds up to which records are repeated. A repetition is ignored because of the note that the first one left at the
 * place of the reservation. That note stays for 10 minutes after the last reservation of the place has expired (retention.ts), so
 * this is far less than that.
 */
const repeatedMs = 2 * 60_000

/**
 * Reduces reservations in other partitions again by the usage that was counted last. The process that counted it may have died, or
 * the hot state may have failed, between counting and reducing, and then the reservation would hold the used units until it expires.
 * The start of the last batch is not stored, so this function repeats as many records as a batch may have. A reduction that was
 * made before changes nothing.
 *
 * Ends of reservations are not repeated: an end has no offset, so it could end a later reservation that was made with the same key.
 * A reservation whose end was lost expires.
 */
export async function repeatParts(
  parts: PartitionParts,
  position: number,
  nowMs: number,
): Promise<void> {
  const { log, topic, partition, readLimits } = parts
  const [oldest, head] = await Promise.all([
    log.oldest(topic, partition),
    log.head(topic, partition),
  ])
  // The first batch reports a position outside of the log.
  if (position > head) return
  let from = Math.max(oldest, position - readLimits.recordsMax)
  while (from < position) {
    let records: LogRecord[]
    try {
      const recordsMax = position - from
      records = await log.read(topic, partition, from, { ...readLimits, recordsMax })
    } catch (error) {
      // Records of a damaged segment cannot be repeated. Those after it can.
      if (!(error instanceof LogDamagedError)) throw error
      from = error.readableFrom
      continue
    }
    const last = records.at(-1)
    if (last === undefined) return
    const decoder = new BatchDecoder(from)
    // Old records are not decoded: after a long stop, that would delay every partition for nothing.
    decoder.add(records.filter(({ receivedAtMs }) => receivedAtMs > nowMs - repeatedMs))
    await repeatPartsOf(parts, decoder.finish().events, position)
    from = last.offset + 1
  }
}

async function repeatPartsOf(
  parts: PartitionParts,
  recent: readonly EventRecord[],
  position: number,
): Promise<void> {
  const { log, hotState, environment, topic, partition } = parts
  const events = recent.filter(({ event }) => event.reservationId !== null)
  if (events.length === 0) return
  // Everything was counted before, so each record with a key has its mark.
  const wanted = marksOfBatch(events)
  const ids = wanted.map(({ id }) => id)
  const known = ids.length === 0 ? [] : await hotState.readMarks(environment, partition, ids)
  const { byId } = resolveFirstOffsets(wanted, known)
  const settled = settledReservations(events, byId, partition, log.partitionCount(topic))
  const reduced = new Map<number, SettledReservation[]>()
  for (const [keptIn, ofPartition] of settled) {
    const onlyParts = ofPartition.filter(({ part }) => part !== undefined)
    if (onlyParts.length > 0) reduced.set(keptIn, onlyParts)
  }
  await settleInOtherPartitions(parts, reduced, position)
}
