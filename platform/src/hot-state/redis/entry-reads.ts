import type { EntryView } from '../hot-state.ts'
import { readAmounts } from './amount-format.ts'
import { TurnReads } from './turn-reads.ts'

/** Runs the script for the names of an entry and of a counter per read. */
type RunScript = (partition: string, names: readonly string[]) => Promise<unknown>

type Views = readonly (string | null | readonly string[])[]

const entriesPerCallMax = 200

/** Creates batched reads of an entry by its name and the name of a counter. */
export function createEntryReads(run: RunScript): TurnReads<EntryView> {
  return new TurnReads<EntryView>(async (partition, reads) => {
    const [fence, views] = (await run(partition, reads.flat())) as [string, Views]
    const appliedOffset = Number(fence)
    return reads.map((_, index) => {
      const document = views[2 * index] as string | null
      const amounts = readAmounts(views[2 * index + 1] as string[])
      return { document: document ?? undefined, amounts, appliedOffset }
    })
  }, entriesPerCallMax)
}
