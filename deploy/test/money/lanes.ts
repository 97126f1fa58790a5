import { openStores, type Stores } from './stores.ts'

/** Stores for a number of concurrent stories. Stories often wait for an answer that never arrives, so they run concurrently. */
export class Lanes {
  readonly #all: readonly Stores[]
  readonly #free: Stores[]
  readonly #waiting: ((stores: Stores) => void)[] = []

  private constructor(all: readonly Stores[]) {
    this.#all = all
    this.#free = [...all]
  }

  static async open(lanes: number): Promise<Lanes> {
    const all: Stores[] = []
    for (let lane = 0; lane < lanes; lane++) all.push(await openStores())
    return new Lanes(all)
  }

  /** Runs `body` with stores that no other story uses at the same time. */
  async run<Result>(body: (stores: Stores) => Promise<Result>): Promise<Result> {
    const stores =
      this.#free.pop() ?? (await new Promise<Stores>((take) => this.#waiting.push(take)))
    try {
      return await body(stores)
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free.push(stores)
      else next(stores)
    }
  }

  async stop(): Promise<void> {
    for (const stores of this.#all) await stores.stop()
  }
}
