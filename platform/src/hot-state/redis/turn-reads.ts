/** Runs several reads of a partition in one script, each given by its arguments. Returns the answers in the same order. */
export type RunReads<Answer> = (
  partition: string,
  reads: readonly (readonly string[])[],
) => Promise<readonly Answer[]>

type Read<Answer> = {
  readonly args: readonly string[]
  readonly answer: Promise<Answer>
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

/**
 * Sends the reads of one turn of the event loop together, and reads with the same arguments once: a call costs this process and
 * Redis several times as much as a read within it. Each answer reflects a moment after its request.
 *
 * Redis is blocked while a script runs, so a call has at most `readsPerCallMax` reads.
 */
export class TurnReads<Answer> {
  readonly #run: RunReads<Answer>
  readonly #readsPerCallMax: number
  /** Pending reads by partition, then by arguments. */
  readonly #waiting = new Map<string, Map<string, Read<Answer>>>()

  constructor(run: RunReads<Answer>, readsPerCallMax: number) {
    this.#run = run
    this.#readsPerCallMax = readsPerCallMax
  }

  read(partition: string, ...args: readonly string[]): Promise<Answer> {
    if (this.#waiting.size === 0) setImmediate(() => this.#send())
    let reads = this.#waiting.get(partition)
    if (reads === undefined) {
      reads = new Map()
      this.#waiting.set(partition, reads)
    }
    const key = JSON.stringify(args)
    let read = reads.get(key)
    if (read === undefined) {
      read = createRead(args)
      reads.set(key, read)
    }
    return read.answer
  }

  #send(): void {
    for (const [partition, waiting] of this.#waiting) {
      const reads = [...waiting.values()]
      for (let first = 0; first < reads.length; first += this.#readsPerCallMax) {
        void this.#sendSome(partition, reads.slice(first, first + this.#readsPerCallMax))
      }
    }
    this.#waiting.clear()
  }

  async #sendSome(partition: string, reads: readonly Read<Answer>[]): Promise<void> {
    try {
      const answers = await this.#run(
        partition,
        reads.map(({ args }) => args),
      )
      for (const [index, { resolve }] of reads.entries()) resolve(answers[index]!)
    } catch (error) {
      for (const { reject } of reads) reject(error)
    }
  }
}

function createRead<Answer>(args: readonly string[]): Read<Answer> {
  let settle: Pick<Read<Answer>, 'resolve' | 'reject'>
  const answer = new Promise<Answer>((resolve, reject) => (settle = { resolve, reject }))
  return { args, answer, ...settle! }
}
