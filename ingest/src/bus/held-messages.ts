/** Messages that this process has received from the bus and not finished, bounded in number and bytes. */
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

  /** Returns how many more messages of at most `messageBytesMax` bytes fit within the bounds. */
  capacityFor(messageBytesMax: number): number {
    const byBytes = Math.floor((this.#bytesMax - this.#bytes) / messageBytesMax)
    // Without this exception, a byte bound below the size of one message would let no message pass.
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
    for (const resolve of released) resolve()
  }

  /** Resolves at the next release of a message. */
  nextRelease(): Promise<void> {
    return new Promise((resolve) => this.#released.push(resolve))
  }

  /** Resolves when no message is held, or after `timeoutMs` milliseconds. */
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
