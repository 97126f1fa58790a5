import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import { readSinkNote } from '@tollgate/schemas/sink-note'

/** The generation of the stored rows and the incarnation of the store. Totals that were verified in another pair are not read. */
export type TotalsStamp = { readonly generation: string; readonly incarnation: string }

/** The records [fromOffset, toOffset) of a log partition. */
export type OffsetRange = { readonly fromOffset: number; readonly toOffset: number }

/** A range whose totals are complete, and the version of the rows that have them. */
export type TotalledRange = OffsetRange & { readonly partition: number; readonly version: number }

/** The part of one log partition that a query reads, and the stamp of its totals. */
export type TotalledPart = {
  readonly partition: number
  readonly beforeOffset: number
  readonly totals?: TotalsStamp | undefined
}

/** Returns undefined while stored rows may still be added below the sink's position, and for notes of earlier releases. */
export function totalsStampOf(note: string): TotalsStamp | undefined {
  const read = readSinkNote(note)
  if (read?.generation === undefined || read.comparedIncarnation === undefined) return undefined
  return { generation: read.generation, incarnation: read.comparedIncarnation }
}

/**
 * Number of ranges that one query may name. Their versions are part of its URL, which may have 1 MB. The records of further ranges
 * are read row by row.
 */
const rangesMax = 20_000
/** Number of ranges that are not adjacent to the one before. Their bounds are part of the text of a query, which may have 256 KB. */
const fragmentsMax = 500

/** Returns the ranges with valid totals that end within the parts, without overlaps, newest first. */
export async function listTotalledRanges(
  store: Pick<UsageStore, 'query'>,
  environment: Environment,
  parts: readonly TotalledPart[],
): Promise<readonly TotalledRange[]> {
  const stamped = parts.filter((part) => part.totals !== undefined && part.beforeOffset > 0)
  if (stamped.length === 0) return []
  // On a cluster, a condition with a subquery of a distributed table would be refused.
  const rows = await store.query<
    Record<'partition' | 'fromOffset' | 'toOffset' | 'version', string>
  >(
    `SELECT toString(log_partition) AS partition, toString(from_offset) AS fromOffset,
       toString(to_offset) AS toOffset, toString(ranges.version) AS version
     FROM ${environment}.usage_totals_ranges AS ranges
     WHERE log_partition IN {partitions:Array(UInt32)}
     GROUP BY log_partition, from_offset, to_offset, ranges.version
     HAVING countIf(state = 'dropped') = 0 AND countIf(state = 'valid' AND has(
       arrayZip({partitions:Array(UInt32)}, {generations:Array(String)}, {incarnations:Array(String)}),
       (log_partition, generation, incarnation))) > 0
     ORDER BY to_offset DESC, from_offset DESC, ranges.version`,
    {
      partitions: stamped.map(({ partition }) => partition),
      generations: stamped.map(({ totals }) => totals!.generation),
      incarnations: stamped.map(({ totals }) => totals!.incarnation),
    },
  )
  const ranges = rows.map(({ partition, fromOffset, toOffset, version }) => ({
    partition: Number(partition),
    fromOffset: Number(fromOffset),
    toOffset: Number(toOffset),
    version: Number(version),
  }))
  return firstFragments(stamped.flatMap((part) => rangesWithin(part, ranges))).slice(0, rangesMax)
}

function firstFragments(ranges: readonly TotalledRange[]): readonly TotalledRange[] {
  let fragments = 0
  const end = ranges.findIndex(({ partition, toOffset }, at) => {
    const previous = ranges[at - 1]
    if (previous?.partition !== partition || previous.fromOffset !== toOffset) fragments += 1
    return fragments > fragmentsMax
  })
  return end === -1 ? ranges : ranges.slice(0, end)
}

/** Returns the ranges of the part that do not overlap, from the newest on. `ranges` are sorted by their ends, newest first. */
export function rangesWithin(
  { partition, beforeOffset }: TotalledPart,
  ranges: readonly TotalledRange[],
): TotalledRange[] {
  const chosen: TotalledRange[] = []
  let free = beforeOffset
  for (const range of ranges) {
    if (range.partition !== partition || range.toOffset > free) continue
    chosen.push(range)
    free = range.fromOffset
  }
  return chosen
}

/** Returns adjacent ranges as one, in ascending order. The given ranges do not overlap. */
export function joinRanges(ranges: readonly OffsetRange[]): OffsetRange[] {
  const joined: { fromOffset: number; toOffset: number }[] = []
  for (const { fromOffset, toOffset } of ranges.toSorted((a, b) => a.fromOffset - b.fromOffset)) {
    const last = joined.at(-1)
    if (last?.toOffset === fromOffset) last.toOffset = toOffset
    else joined.push({ fromOffset, toOffset })
  }
  return joined
}

/** Returns what [0, beforeOffset) has beside these ranges, which are joined. */
export function gapsBetween(ranges: readonly OffsetRange[], beforeOffset: number): OffsetRange[] {
  const starts = [0, ...ranges.map(({ toOffset }) => toOffset)]
  const ends = [...ranges.map(({ fromOffset }) => fromOffset), beforeOffset]
  return starts
    .map((fromOffset, at) => ({ fromOffset, toOffset: ends[at]! }))
    .filter(({ fromOffset, toOffset }) => fromOffset < toOffset)
}
