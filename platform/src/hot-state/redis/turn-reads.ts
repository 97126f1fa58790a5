/** Runs some reads of a partition in one script, each given by its arguments; answers in their order. */
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
 * Sends the reads of one turn of the event loop together, and those with the same arguments as one: a call costs this
 * process and Redis several times what a read within it does. Each is answered as of a moment after it was asked for.
 *
 * Redis does nothing else while a script runs, so a call has no more than `readsPerCallMax` of them.
 */
export class TurnReads<Answer> {
  readonly #run: RunReads<Answer>
  readonly #readsPerCallMax: number
  /** By partition, and then by the arguments. */
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
