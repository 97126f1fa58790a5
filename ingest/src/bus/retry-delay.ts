const firstMs = 1_000

/** Milliseconds before the next attempt: a second after the first one, then twice as long each time. */
export function retryDelayMs(attempts: number, msMax: number): number {
  return Math.min(msMax, firstMs * 2 ** Math.min(attempts - 1, 20))
}
