import { NextRequest } from '../../waiting/next-request.ts'

/** Names of entries; the script's answer has the document of each, or null. */
export type RunDocumentReads = (partition: string, names: readonly string[]) => Promise<unknown>

/** Redis does nothing else while a script runs. */
const documentsPerCallMax = 200

/**
 * Reads documents for those who wait for something slower beside them. So a partition is asked once at a time, for all
 * that was wanted meanwhile, and for each document once: a call costs this process and Redis several times what a
 * document in it does. Each is answered as of a moment after it was asked for.
 */
export class EntryDocuments {
  readonly #run: RunDocumentReads
  readonly #byPartition = new Map<string, NextRequest<string, string | null>>()

  constructor(run: RunDocumentReads) {
    this.#run = run
  }

  /** Null: the entry has none. */
  read(partition: string, name: string): Promise<string | null> {
    let next = this.#byPartition.get(partition)
    if (next === undefined) {
      next = new NextRequest(itself, (names) => this.#readAll(partition, names))
      this.#byPartition.set(partition, next)
    }
    return next.ask(name)
  }

  async #readAll(
    partition: string,
    names: readonly string[],
  ): Promise<ReadonlyMap<string, string | null>> {
    const calls: Promise<unknown>[] = []
    for (let first = 0; first < names.length; first += documentsPerCallMax) {
      calls.push(this.#run(partition, names.slice(first, first + documentsPerCallMax)))
    }
    const documents = ((await Promise.all(calls)) as (string | null)[][]).flat()
    return new Map(names.map((name, index) => [name, documents[index] ?? null]))
  }
}

function itself(name: string): string {
  return name
}
