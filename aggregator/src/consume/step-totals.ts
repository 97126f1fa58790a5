import { randomInt } from 'node:crypto'
import { isComparedStore } from '@tollgate/domain/stored-usage/store-incarnation'
import {
  rangesWithin,
  totalsStampOf,
  type OffsetRange,
  type TotalsStamp,
} from '@tollgate/domain/stored-usage/totalled-ranges'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import {
  addState,
  areEqualSums,
  deleteTotals,
  insertTotals,
  listVersions,
  readRecordSums,
  readStoredStart,
  readTotalsSums,
  type KnownVersion,
  type RangeSums,
  type TotalsVersion,
} from '../clickhouse/usage-totals.ts'
import { rangesToTotal } from '../domain/plan-totals.ts'
import { requireCompleteReplicas, type ComparedParts } from './compare-stored.ts'
import type { Partition } from './partition-parts.ts'

export type TotalsParts = ComparedParts &
  Pick<Partition, 'topic'> & {
    readonly log: Pick<EventLog, 'position'>
    /** Number of offsets of a range. */
    readonly rangeRecords: number
    /** Whether the rows of valid totals are compared with the noted sums, although ClickHouse has not restarted. */
    readonly isVerifyDue?: boolean
  }

export type TotalsStep =
  /** The stored rows may still change, or the store was not compared with the log yet. */
  | { readonly kind: 'unsettled' }
  /** Every complete range has totals. */
  | { readonly kind: 'complete' }
  /** Versions were changed, and more may be to do. `waitingRecords` are in complete ranges without totals. */
  | ({ readonly waitingRecords: number } & (
      | { readonly kind: 'verified' | 'dropped'; readonly versions: number }
      | ({ readonly kind: 'totalled' | 'refused' } & OffsetRange)
    ))

/** Number of versions that one step verifies or drops. They are part of a token and of a URL, which may have 1 MB. */
const versionsPerStep = 1_000
const versionMax = 2 ** 48 - 1

/**
 * Makes one step towards totals of every complete range of a partition. The order of effects, and what a crash after each of them
 * leaves, is:
 *
 *  1. Note that the version is begun. Nothing reads it. A step drops it an hour later, unless its process is still working on it.
 *  2. Insert its totals, in as many blocks as ClickHouse makes. The table may have some of them. Nothing reads them.
 *  3. Compare them with the records, and read the sink's position again: the totals are right for this generation and incarnation.
 *  4. Note that the version is valid, in one row. From now on readers use it.
 *
 * A process that is suspended at any point and continues later adds a version that is right for the stamp in its row, or that is
 * already dropped. Two processes that make totals of the same range add two versions, of which readers use one. A version that was
 * dropped never counts again, so its rows can be deleted, an hour later because of readers that have listed it before.
 */
export async function stepTotals(parts: TotalsParts): Promise<TotalsStep> {
  const settled = await readSettled(parts)
  if (settled === undefined) return { kind: 'unsettled' }
  const { stamp, offset } = settled
  await requireCompleteReplicas(parts)
  const known = await listVersions(parts.usageStore, parts)
  await deleteDropped(parts, known)

  const usable = known.filter(({ isDropped }) => !isDropped)
  const isOf = ({ stamps }: KnownVersion): boolean =>
    stamps.some(({ generation }) => generation === stamp.generation)
  // Totals beyond the position exist only if it was restored from an older copy, and other records may follow it.
  const isBeyond = ({ toOffset }: KnownVersion): boolean => toOffset > offset
  const obsolete = usable
    .filter((each) => (isOf(each) ? isBeyond(each) : !mayBeInProgress(each)))
    .slice(0, versionsPerStep)
  const ofGeneration = usable.filter((each) => isOf(each) && !isBeyond(each))
  const valid = ofGeneration.filter((version) => isValid(version, stamp))
  const waiting = await listWaiting(parts, offset, valid)
  const waitingRecords = lengthOf(waiting)
  if (obsolete.length > 0) {
    await addState(parts.usageStore, parts, obsolete, 'dropped')
    return { kind: 'dropped', versions: obsolete.length, waitingRecords }
  }
  const toVerify = ofGeneration.filter((version) => !isValid(version, stamp))
  if (toVerify.length > 0) return await verify(parts, stamp, toVerify, waitingRecords)
  if (parts.isVerifyDue === true) {
    const lost = await dropLost(parts, valid)
    if (lost > 0) return { kind: 'dropped', versions: lost, waitingRecords }
  }
  const [range] = waiting
  if (range === undefined) return { kind: 'complete' }
  return await total(parts, stamp, range, waitingRecords)
}

/** Returns the position and its stamp, or undefined while rows below the position may change. */
async function readSettled(
  parts: TotalsParts,
): Promise<{ readonly stamp: TotalsStamp; readonly offset: number } | undefined> {
  const { log, topic, partition, usageStore, environment } = parts
  const { note, offset } = await log.position(sinkGroup, topic, partition)
  const stamp = totalsStampOf(note)
  if (stamp === undefined) return undefined
  return (await isComparedStore(usageStore, environment, [note])) ? { stamp, offset } : undefined
}

/** Two processes that dropped each other's new versions would never complete one. */
function mayBeInProgress({ stamps, isRecent }: KnownVersion): boolean {
  return stamps.length === 0 && isRecent
}

function isValid({ stamps }: KnownVersion, { generation, incarnation }: TotalsStamp): boolean {
  return stamps.some((each) => each.generation === generation && each.incarnation === incarnation)
}

/** Returns the complete ranges below the position that have no totals, newest first. */
async function listWaiting(
  parts: TotalsParts,
  offset: number,
  valid: readonly KnownVersion[],
): Promise<OffsetRange[]> {
  const { partition, rangeRecords } = parts
  const ranges = valid.map(({ fromOffset, toOffset, version }) => ({
    partition,
    fromOffset,
    toOffset,
    version,
  }))
  const totalled = rangesWithin({ partition, beforeOffset: offset }, ranges)
  const waiting = (start: number): OffsetRange[] => [
    ...rangesToTotal(offset, start, rangeRecords, totalled),
  ]
  if (waiting(0).length === 0) return []
  const start = await readStoredStart(parts.usageStore, parts, offset)
  return start === undefined ? [] : waiting(start)
}

function lengthOf(ranges: readonly OffsetRange[]): number {
  return ranges.reduce((sum, { fromOffset, toOffset }) => sum + toOffset - fromOffset, 0)
}

async function deleteDropped(parts: TotalsParts, known: readonly KnownVersion[]): Promise<void> {
  const { usageStore, environment, cluster } = parts
  const toDelete = known.filter(({ isToDelete }) => isToDelete)
  await deleteTotals(
    usageStore,
    environment,
    cluster,
    toDelete.map(({ version }) => version),
  )
  await addState(usageStore, parts, toDelete, 'deleted')
}

/**
 * Makes totals of an earlier incarnation valid in this one. The records below the position are the same, but ClickHouse may have
 * lost rows of the totals, so these are compared with the sums that were noted with them.
 */
async function verify(
  parts: TotalsParts,
  stamp: TotalsStamp,
  all: readonly KnownVersion[],
  waitingRecords: number,
): Promise<TotalsStep> {
  const { whole, sums } = await dropIncomplete(parts, all.slice(0, versionsPerStep))
  const sumsOf = ({ version }: Pick<KnownVersion, 'version'>): RangeSums => sums.get(version)!
  await addState(parts.usageStore, parts, whole, 'valid', stamp, sumsOf)
  return { kind: 'verified', versions: whole.length, waitingRecords }
}

/**
 * Drops valid versions that lack rows, and returns their number. A cluster keeps its incarnation, and a table that is restored
 * while a server runs does not change it either.
 */
async function dropLost(parts: TotalsParts, valid: readonly KnownVersion[]): Promise<number> {
  let total = 0
  for (let from = 0; from < valid.length; from += versionsPerStep) {
    const versions = valid.slice(from, from + versionsPerStep)
    const { whole } = await dropIncomplete(parts, versions)
    total += versions.length - whole.length
  }
  return total
}

/** Drops the versions whose rows do not add up to the noted sums. Returns the others, and the sums of all. */
async function dropIncomplete(
  parts: TotalsParts,
  versions: readonly KnownVersion[],
): Promise<{
  readonly whole: readonly KnownVersion[]
  readonly sums: ReadonlyMap<number, RangeSums>
}> {
  const { usageStore, environment } = parts
  const numbers = versions.map(({ version }) => version)
  const sums = await readTotalsSums(usageStore, environment, numbers)
  const isWhole = (each: KnownVersion): boolean => areEqualSums(sums.get(each.version)!, each)
  const lost = versions.filter((each) => !isWhole(each))
  await addState(usageStore, parts, lost, 'dropped')
  return { whole: versions.filter(isWhole), sums }
}

async function total(
  parts: TotalsParts,
  stamp: TotalsStamp,
  range: OffsetRange,
  waitingRecords: number,
): Promise<TotalsStep> {
  const { usageStore, environment, partition } = parts
  const at: TotalsVersion = { environment, partition, ...range, version: randomInt(1, versionMax) }
  await addState(usageStore, parts, [at], 'begun')
  await insertTotals(usageStore, at)
  const sums = await readComparedSums(parts, at)
  if (sums === undefined || !(await isStillSettled(parts, stamp))) {
    await addState(usageStore, parts, [at], 'dropped')
    return { kind: 'refused', ...range, waitingRecords }
  }
  await addState(usageStore, parts, [at], 'valid', stamp, () => sums)
  return { kind: 'totalled', ...range, waitingRecords: waitingRecords - lengthOf([range]) }
}

/** Returns the sums of the version, or undefined if they differ from those of the records. */
async function readComparedSums(
  parts: TotalsParts,
  at: TotalsVersion,
): Promise<RangeSums | undefined> {
  await requireCompleteReplicas(parts)
  const { usageStore, environment } = parts
  const sums = (await readTotalsSums(usageStore, environment, [at.version])).get(at.version)!
  const recordSums = await readRecordSums(usageStore, at)
  // After a failover, the same late replica may have returned the records for the totals and for their sums.
  await requireCompleteReplicas(parts)
  return areEqualSums(sums, recordSums) ? sums : undefined
}

async function isStillSettled(parts: TotalsParts, stamp: TotalsStamp): Promise<boolean> {
  const now = await readSettled(parts)
  return now?.stamp.generation === stamp.generation && now.stamp.incarnation === stamp.incarnation
}
