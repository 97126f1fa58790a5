/**
 * Those of this process who wait for something to happen. Waking is a hint: a waiter looks for itself afterwards.
 *
 * A waiter has looked before it waits, and what happened between the two must not be slept over. So who comes within
 * settleMs of a wake-up sleeps no longer than that.
 */
export class WakeUps {
  readonly #waiters = new Set<() => void>()
  readonly #settleMs: number
  #lastWokenAt = -Infinity

  /** `settleMs` is how long a look takes. */
  constructor(settleMs = 2) {
    this.#settleMs = settleMs
  }

  get hasWaiters(): boolean {
    return this.#waiters.size > 0
  }

  wait(timeoutMs: number): Promise<void> {
    const justWoken = performance.now() - this.#lastWokenAt < this.#settleMs
    const sleepMs = Math.min(timeoutMs, justWoken ? this.#settleMs : timeoutMs)
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        this.#waiters.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, sleepMs)
      this.#waiters.add(wake)
    })
  }

  wake(): void {
    this.#lastWokenAt = performance.now()
    for (const wake of this.#waiters) wake()
  }
}
