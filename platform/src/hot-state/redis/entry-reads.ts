import type { EntrySeriesView, EntryView, SeriesView } from '../hot-state.ts'
import { readAmounts } from './amount-format.ts'
import { readBuckets } from './bucket-format.ts'
import { TurnReads } from './turn-reads.ts'

/** Runs the script for the names of an entry and of a counter per read. */
type RunScript = (partition: string, names: readonly string[]) => Promise<unknown>

/** Runs the script for entries with a number of counters each. `countersTotal` is the sum of these numbers. */
type RunSeriesScript = (
  partition: string,
  args: readonly string[],
  countersTotal: number,
) => Promise<unknown>

type Views = readonly (string | null | readonly string[])[]

const entriesPerCallMax = 200

/** Entries with several series have more to read each. */
const seriesEntriesPerCallMax = 50

/** Creates batched reads of an entry by its name and the name of a counter. */
export function createEntryReads(run: RunScript): TurnReads<EntryView> {
  return new TurnReads<EntryView>(async (partition, reads) => {
    const [fence, views] = (await run(partition, reads.flat())) as [string, Views]
    const appliedOffset = Number(fence)
    return reads.map((_, index) => {
      const document = views[2 * index] as string | null
      const counter = views[2 * index + 1] as string[]
      return { document: document ?? undefined, ...seriesView(counter), appliedOffset }
    })
  }, entriesPerCallMax)
}

/** An entry with its counters, in the order of their names in the read. */
type CountersView = Omit<EntrySeriesView, 'series'> & { readonly counters: readonly SeriesView[] }

/** Creates batched reads of an entry by its name and the names of counters. */
export function createSeriesReads(run: RunSeriesScript): TurnReads<CountersView> {
  return new TurnReads<CountersView>(async (partition, reads) => {
    const args = reads.flatMap(([name, ...counters]) => [name!, `${counters.length}`, ...counters])
    const countersTotal = args.length - 2 * reads.length
    const [fence, views] = (await run(partition, args, countersTotal)) as [string, Views]
    const appliedOffset = Number(fence)
    let at = 0
    return reads.map(([, ...counters]) => {
      const document = views[at++] as string | null
      const read = counters.map(() => seriesView(views[at++] as readonly string[]))
      return { document: document ?? undefined, counters: read, appliedOffset }
    })
  }, seriesEntriesPerCallMax)
}

function seriesView(fields: readonly string[]): SeriesView {
  const amounts = readAmounts(fields)
  // The listed bucket specs, if there are any, come last.
  if (fields.at(-2)?.startsWith('l') !== true) return { amounts }
  const buckets = readBuckets(fields)
  return buckets.size === 0 ? { amounts } : { amounts, buckets }
}
