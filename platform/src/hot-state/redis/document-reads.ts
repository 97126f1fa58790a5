import { TurnReads } from './turn-reads.ts'

/** Runs the script for names of entries; the answer has the document of each, or null. */
type RunScript = (partition: string, names: readonly string[]) => Promise<unknown>

const documentsPerCallMax = 200

/** Creates batched reads of documents by the name of the entry, for callers that need no counters. */
export function createDocumentReads(run: RunScript): TurnReads<string | null> {
  return new TurnReads<string | null>(
    async (partition, reads) => (await run(partition, reads.flat())) as (string | null)[],
    documentsPerCallMax,
  )
}
