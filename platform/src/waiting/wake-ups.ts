/**
 * Lets code of this process wait for a condition. A wake-up is only a hint: the waiter checks the condition itself afterwards.
 *
 * A waiter has checked the condition before it waits, and may miss a wake-up in between. So a wait that begins within `settleMs` of
 * a wake-up lasts at most `settleMs`.
 */
export class WakeUps {
  readonly #waiters = new Set<() => void>()
  readonly #settleMs: number
  #lastWokenAt = -Infinity

  /** `settleMs`: how long one check of the condition takes, in milliseconds. */
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
