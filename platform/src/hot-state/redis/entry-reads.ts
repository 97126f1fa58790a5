import type { EntryView } from '../hot-state.ts'
import { readAmounts } from './amount-format.ts'

/** Names of an entry and of a counter per read; the answer of the script to them. */
export type RunReads = (partition: string, names: readonly string[]) => Promise<unknown>

type Views = (string | null | readonly string[])[]

type Read = {
  readonly resolve: (view: EntryView) => void
  readonly reject: (error: unknown) => void
}

type Waiting = {
  readonly names: string[]
  readonly reads: Read[]
}

/** Redis does nothing else while a script runs. */
const readsPerCallMax = 200

/**
 * Sends the reads of one turn of the event loop together, one call per partition: a call costs this process and Redis
 * several times what a read within it does. Each is answered as of a moment after it was asked for.
 */
export class EntryReads {
  readonly #run: RunReads
  readonly #waiting = new Map<string, Waiting>()

  constructor(run: RunReads) {
    this.#run = run
  }

  read(partition: string, entry: string, counter: string): Promise<EntryView> {
    if (this.#waiting.size === 0) setImmediate(() => this.#send())
    let waiting = this.#waiting.get(partition)
    if (waiting === undefined) {
      waiting = { names: [], reads: [] }
      this.#waiting.set(partition, waiting)
    }
    const { names, reads } = waiting
    names.push(entry, counter)
    return new Promise((resolve, reject) => void reads.push({ resolve, reject }))
  }

  #send(): void {
    for (const [partition, { names, reads }] of this.#waiting) {
      for (let first = 0; first < reads.length; first += readsPerCallMax) {
        const last = first + readsPerCallMax
        void this.#sendSome(partition, names.slice(2 * first, 2 * last), reads.slice(first, last))
      }
    }
    this.#waiting.clear()
  }

  async #sendSome(partition: string, names: string[], reads: Read[]): Promise<void> {
    try {
      const [fence, views] = (await this.#run(partition, names)) as [string, Views]
      const appliedOffset = Number(fence)
      for (const [index, { resolve }] of reads.entries()) {
        const document = views[2 * index] as string | null
        const amounts = readAmounts(views[2 * index + 1] as string[])
        resolve({ document: document ?? undefined, amounts, appliedOffset })
      }
    } catch (error) {
      for (const { reject } of reads) reject(error)
    }
  }
}
