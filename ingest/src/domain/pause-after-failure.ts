/** How long nothing is tried after a failure. */
const pauseMs = 1_000

/**
 * Keeps callers away for a moment from what has just failed: what each try takes along would be lost for a while, and a
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
