/** Milliseconds without a new attempt after a failure. */
const pauseMs = 1_000

/**
 * Suppresses attempts for a moment after a failure. Each failed attempt may hold resources, such as credits, for a while, and a
 * part that is down has many callers.
 */
export class PauseAfterFailure {
  #failedAtMs = -Infinity

  get isOn(): boolean {
    return performance.now() - this.#failedAtMs < pauseMs
  }

  begin(): void {
    this.#failedAtMs = performance.now()
  }
}
