/** Calls `ring` at once, and then at most once per interval. The last request is never lost, only delayed by up to the interval. */
export class PacedRing {
  readonly #ring: () => void
  readonly #intervalMs: number
  #lastAt = -Infinity
  #timer: NodeJS.Timeout | undefined

  constructor(ring: () => void, intervalMs: number) {
    this.#ring = ring
    this.#intervalMs = intervalMs
  }

  request(): void {
    if (this.#timer !== undefined) return
    const now = performance.now()
    if (now - this.#lastAt >= this.#intervalMs) {
      this.#lastAt = now
      this.#ring()
    } else {
      this.#timer = setTimeout(() => this.#ringLate(), this.#intervalMs)
    }
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #ringLate(): void {
    this.#timer = undefined
    this.#lastAt = performance.now()
    this.#ring()
  }
}
