/** Delays the commits of this process while it is held, and tells when no commit is running. */
export class CommitGate {
  #running = 0
  #holders = 0
  /** Callbacks that wait for running commits, or for the end of the last hold. */
  #onIdle: (() => void)[] = []
  #onOpen: (() => void)[] = []

  /** Runs a write. `write` starts the commit and resolves when it is on disk. */
  async run<Result>(write: () => Promise<Result>): Promise<Result> {
    while (this.#holders > 0) await new Promise<void>((resolve) => this.#onOpen.push(resolve))
    this.#running += 1
    try {
      return await write()
    } finally {
      this.#running -= 1
      if (this.#running === 0) callAll(this.#onIdle.splice(0))
    }
  }

  /** Resolves when no commit is running. None starts until as many calls of `release` as of `hold` were made. */
  async hold(): Promise<void> {
    this.#holders += 1
    if (this.#running > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve))
  }

  release(): void {
    this.#holders -= 1
    if (this.#holders === 0) callAll(this.#onOpen.splice(0))
  }
}

function callAll(callbacks: readonly (() => void)[]): void {
  for (const callback of callbacks) callback()
}
