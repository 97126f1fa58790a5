type WaitingLookup = {
  readonly resolve: (isKnown: boolean) => void
  readonly reject: (reason: unknown) => void
}

/** Maximum names that wait for a read. Further names are refused. */
const waitingMax = 10_000
/** Maximum names per read. */
const namesMax = 1_000

/**
 * Looks up names in the database with 1 read at a time. Names requested during a read wait for the next one, which looks all of
 * them up. The load on the database therefore does not grow with the number of callers.
 */
export class SubdomainLookups {
  readonly #read: (names: readonly string[]) => Promise<ReadonlySet<string>>
  readonly #waiting = new Map<string, WaitingLookup[]>()
  #isReading = false

  constructor(read: (names: readonly string[]) => Promise<ReadonlySet<string>>) {
    this.#read = read
  }

  isKnown(name: string): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const found = this.#waiting.get(name)
      if (found !== undefined) found.push({ resolve, reject })
      else if (this.#waiting.size >= waitingMax) {
        return reject(new Error('too many unknown subdomains are asked for'))
      } else this.#waiting.set(name, [{ resolve, reject }])
      if (!this.#isReading) void this.#readAll()
    })
  }

  async #readAll(): Promise<void> {
    this.#isReading = true
    while (this.#waiting.size > 0) await this.#readSome()
    this.#isReading = false
  }

  async #readSome(): Promise<void> {
    const names = [...this.#waiting.keys()].slice(0, namesMax)
    const asked = names.map((name) => [name, this.#waiting.get(name)!] as const)
    for (const name of names) this.#waiting.delete(name)
    try {
      const known = await this.#read(names)
      for (const [name, callers] of asked) {
        for (const { resolve } of callers) resolve(known.has(name))
      }
    } catch (error) {
      for (const [, callers] of asked) for (const { reject } of callers) reject(error)
    }
  }
}
