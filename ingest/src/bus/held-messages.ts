/** What this process has taken over from the bus and not finished, with a bound in number and bytes. */
export class HeldMessages {
  readonly #countMax: number
  readonly #bytesMax: number
  #count = 0
  #bytes = 0
  #released: (() => void)[] = []

  constructor(limits: { readonly countMax: number; readonly bytesMax: number }) {
    this.#countMax = limits.countMax
    this.#bytesMax = limits.bytesMax
  }

  get count(): number {
    return this.#count
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Returns how many messages of at most this size there is room for. */
  room(messageBytesMax: number): number {
    const byBytes = Math.floor((this.#bytesMax - this.#bytes) / messageBytesMax)
    // A limit below the size of one message would let none through.
    const least = this.#count === 0 ? 1 : 0
    return Math.max(least, Math.min(this.#countMax - this.#count, byBytes))
  }

  hold(bytes: number): void {
    this.#count += 1
    this.#bytes += bytes
  }

  release(bytes: number): void {
    this.#count -= 1
    this.#bytes -= bytes
    const released = this.#released
    this.#released = []
    for (const tell of released) tell()
  }

  /** Resolves when something is released. */
  nextRelease(): Promise<void> {
    return new Promise((resolve) => this.#released.push(resolve))
  }

  /** Resolves when nothing is held any more, or after so many milliseconds. */
  async untilEmpty(timeoutMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), timeoutMs)
    })
    while (this.#count > 0) {
      if ((await Promise.race([this.nextRelease(), timeout])) === 'late') break
    }
    clearTimeout(timer)
  }
}
