/** Maximum number of failing servers that are remembered. The one whose last failure is the oldest is forgotten, and asked again. */
const serversMax = 1_000

/**
 * Remembers servers that fail, so that thousands of invoices do not wait for the timeout of the same server one after the other. Each
 * process has its own memory, and asks all servers again after a restart. Times are milliseconds of the process.
 */
export class FailurePauses {
  readonly #limits: { readonly failuresMax: number; readonly pauseMs: number }
  readonly #nowMs: () => number
  readonly #failing = new Map<string, { readonly failures: number; readonly pausedToMs: number }>()

  constructor(
    limits: { readonly failuresMax: number; readonly pauseMs: number },
    nowMs: () => number = () => performance.now(),
  ) {
    this.#limits = limits
    this.#nowMs = nowMs
  }

  isPaused(name: string): boolean {
    return (this.#failing.get(name)?.pausedToMs ?? 0) > this.#nowMs()
  }

  /** Notes the end of a request. After a pause, one more failure pauses again. */
  note(name: string, isSuccess: boolean): void {
    const before = this.#failing.get(name)
    this.#failing.delete(name)
    if (isSuccess) return
    const failures = (before?.failures ?? 0) + 1
    const isPausing = failures >= this.#limits.failuresMax
    const pausedToMs = isPausing ? this.#nowMs() + this.#limits.pauseMs : 0
    this.#failing.set(name, { failures, pausedToMs })
    const [oldest] = this.#failing.keys()
    if (this.#failing.size > serversMax && oldest !== undefined) this.#failing.delete(oldest)
  }
}
