import type { EntrySeriesView, EntryView, SeriesView } from '../hot-state.ts'
import { readAmounts } from './amount-format.ts'
import { readBuckets } from './bucket-format.ts'
import { TurnReads } from './turn-reads.ts'

/** Runs the script for entries, given as its arguments. `countersTotal` is the number of counters among them. */
type RunScript = (
  partition: string,
  args: readonly string[],
  countersTotal: number,
) => Promise<unknown>

type Views = readonly (string | null | readonly string[])[]

const entriesPerCallMax = 200

/** Batched reads of entries, each with the counters of one or several series. */
export class EntryReads {
  readonly #reads: TurnReads<Omit<EntrySeriesView, 'series'> & { readonly series: SeriesView[] }>

  constructor(run: RunScript) {
    this.#reads = new TurnReads(async (partition, reads) => {
      const args = reads.flatMap(([name, ...counters]) => [
        name!,
        `${counters.length}`,
        ...counters,
      ])
      const countersTotal = args.length - 2 * reads.length
      const [fence, views] = (await run(partition, args, countersTotal)) as [string, Views]
      const appliedOffset = Number(fence)
      let at = 0
      return reads.map(([, ...counters]) => {
        const document = (views[at++] as string | null) ?? undefined
        const series = counters.map(() => {
          const [fields, listed] = [views[at++], views[at++]]
          return seriesView(fields as readonly string[], listed as readonly string[] | null)
        })
        return { document, series, appliedOffset }
      })
    }, entriesPerCallMax)
  }

  /** Reads the entry of this name with the counter of this name. */
  async readOne(partition: string, name: string, counter: string): Promise<EntryView> {
    const { document, series, appliedOffset } = await this.#reads.read(partition, name, counter)
    return { document, ...series[0]!, appliedOffset }
  }

  /** Reads the entry of this name with counters, given by series and by their names. */
  async readAll(
    partition: string,
    name: string,
    counters: ReadonlyMap<string, string>,
  ): Promise<EntrySeriesView> {
    const view = await this.#reads.read(partition, name, ...counters.values())
    const series = new Map([...counters.keys()].map((each, index) => [each, view.series[index]!]))
    return { ...view, series }
  }
}

function seriesView(fields: readonly string[], listed: readonly string[] | null): SeriesView {
  const amounts = readAmounts(fields)
  if (listed === null) return { amounts }
  const buckets = readBuckets(fields, listed)
  return buckets.size === 0 ? { amounts } : { amounts, buckets }
}
