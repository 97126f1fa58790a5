/** Calls `notify` at once, and then at most once per interval. The last request is never lost, only delayed by up to the interval. */
export class PacedNotifier {
  readonly #notify: () => void
  readonly #intervalMs: number
  #lastAt = -Infinity
  #timer: NodeJS.Timeout | undefined

  constructor(notify: () => void, intervalMs: number) {
    this.#notify = notify
    this.#intervalMs = intervalMs
  }

  request(): void {
    if (this.#timer !== undefined) return
    const now = performance.now()
    if (now - this.#lastAt >= this.#intervalMs) {
      this.#lastAt = now
      this.#notify()
    } else {
      this.#timer = setTimeout(() => this.#notifyLate(), this.#intervalMs)
    }
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #notifyLate(): void {
    this.#timer = undefined
    this.#lastAt = performance.now()
    this.#notify()
  }
}
