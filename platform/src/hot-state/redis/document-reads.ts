import { TurnReads } from './turn-reads.ts'

/** Names of entries; the script's answer has the document of each, or null. */
type RunScript = (partition: string, names: readonly string[]) => Promise<unknown>

const documentsPerCallMax = 200

/** Reads of documents, by the entry's name, for callers that need no counters. */
export function createDocumentReads(run: RunScript): TurnReads<string | null> {
  return new TurnReads<string | null>(
    async (partition, reads) => (await run(partition, reads.flat())) as (string | null)[],
    documentsPerCallMax,
  )
}
