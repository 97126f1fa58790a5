const firstMs = 1_000

/** Returns the milliseconds before the next attempt: 1 s after the first attempt, then twice as long each time, at most `msMax`. */
export function retryDelayMs(attempts: number, msMax: number): number {
  return Math.min(msMax, firstMs * 2 ** Math.min(attempts - 1, 20))
}
