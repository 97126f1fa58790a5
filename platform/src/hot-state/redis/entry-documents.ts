/** Names of entries; the script's answer has the document of each, or null. */
export type RunDocumentReads = (partition: string, names: readonly string[]) => Promise<unknown>

type Read = {
  readonly document: Promise<string | null>
  readonly resolve: (document: string | null) => void
  readonly reject: (error: unknown) => void
}

/** Redis does nothing else while a script runs. */
const documentsPerCallMax = 200

/**
 * Reads documents for callers that need no counters. Those of one turn of the event loop go together, one call per
 * partition, each document once. Each is answered as of a moment after it was asked for.
 */
export class EntryDocuments {
  readonly #run: RunDocumentReads
  readonly #waiting = new Map<string, Map<string, Read>>()

  constructor(run: RunDocumentReads) {
    this.#run = run
  }

  /** Null: the entry has none. */
  read(partition: string, name: string): Promise<string | null> {
    if (this.#waiting.size === 0) setImmediate(() => this.#send())
    let reads = this.#waiting.get(partition)
    if (reads === undefined) {
      reads = new Map()
      this.#waiting.set(partition, reads)
    }
    let read = reads.get(name)
    if (read === undefined) {
      read = createRead()
      reads.set(name, read)
    }
    return read.document
  }

  #send(): void {
    for (const [partition, reads] of this.#waiting) {
      const all = [...reads]
      for (let first = 0; first < all.length; first += documentsPerCallMax) {
        void this.#sendSome(partition, all.slice(first, first + documentsPerCallMax))
      }
    }
    this.#waiting.clear()
  }

  async #sendSome(partition: string, reads: readonly (readonly [string, Read])[]): Promise<void> {
    try {
      const names = reads.map(([name]) => name)
      const documents = (await this.#run(partition, names)) as (string | null)[]
      reads.forEach(([, { resolve }], index) => resolve(documents[index] ?? null))
    } catch (error) {
      for (const [, { reject }] of reads) reject(error)
    }
  }
}

function createRead(): Read {
  let settle: Omit<Read, 'document'>
  const document = new Promise<string | null>((resolve, reject) => (settle = { resolve, reject }))
  return { document, ...settle! }
}
