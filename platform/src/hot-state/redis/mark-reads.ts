import type { HotPlace } from '../hot-state.ts'

/** Reads the marks of ids in one call for `readers` callers. Returns the offset of each id as text, or null without a mark. */
type RunScript = (
  at: PartitionPlace,
  ids: readonly string[],
  readers: number,
) => Promise<readonly (string | null)[]>

type PartitionPlace = Extract<HotPlace, { readonly partition: number }>

type Reader = {
  readonly ids: readonly string[]
  readonly resolve: (offsets: (number | undefined)[]) => void
  readonly reject: (error: unknown) => void
}

type Waiting = { readonly at: PartitionPlace; readonly readers: Reader[] }

/** Redis is blocked while a script runs, so a call begins no further request once it has so many ids: about 2 ms. */
const idsPerCallMax = 1_000

/**
 * Sends the ids that are looked for in one turn of the event loop together, one call per partition: for a single id, a call costs
 * several times as much as the look-up. Each answer reflects a moment after its request.
 */
export class MarkReads {
  readonly #run: RunScript
  #waiting: Waiting[] = []

  constructor(run: RunScript) {
    this.#run = run
  }

  read(at: PartitionPlace, ids: readonly string[]): Promise<(number | undefined)[]> {
    if (this.#waiting.length === 0) setImmediate(() => this.#send())
    let waiting = this.#waiting.find((each) => isSamePlace(each.at, at))
    if (waiting === undefined) {
      waiting = { at, readers: [] }
      this.#waiting.push(waiting)
    }
    const { readers } = waiting
    return new Promise((resolve, reject) => readers.push({ ids, resolve, reject }))
  }

  #send(): void {
    const all = this.#waiting
    this.#waiting = []
    for (const { at, readers } of all) {
      for (const some of callsOf(readers)) void this.#sendSome(at, some)
    }
  }

  async #sendSome(at: PartitionPlace, readers: readonly Reader[]): Promise<void> {
    try {
      const ids = readers.flatMap((reader) => reader.ids)
      const offsets = await this.#run(at, ids, readers.length)
      let first = 0
      for (const reader of readers) {
        const own = offsets.slice(first, (first += reader.ids.length))
        reader.resolve(own.map((offset) => (offset === null ? undefined : Number(offset))))
      }
    } catch (error) {
      for (const { reject } of readers) reject(error)
    }
  }
}

/** Splits the readers into those of each call. */
function callsOf(readers: readonly Reader[]): Reader[][] {
  const calls: Reader[][] = []
  let ids = idsPerCallMax
  for (const reader of readers) {
    if (ids >= idsPerCallMax) {
      calls.push([])
      ids = 0
    }
    calls.at(-1)!.push(reader)
    ids += reader.ids.length
  }
  return calls
}

function isSamePlace(one: PartitionPlace, other: PartitionPlace): boolean {
  return one.partition === other.partition && one.space === other.space
}
