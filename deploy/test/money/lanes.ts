import { openStores, type Stores } from './stores.ts'

/** Stores for so many stories at a time, who wait often: for an answer that does not come. */
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

  /** Among stores that nobody else uses meanwhile. */
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
