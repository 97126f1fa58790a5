/** Minimum milliseconds between two reads of another server's settings, however often health is checked. */
export const setupIntervalMs = 15_000

/** Returns a check that runs at most once per interval. In between, it returns its last outcome. */
export function atMostEvery(intervalMs: number, check: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> | undefined
  let againAt = 0
  return () => {
    if (last === undefined || performance.now() >= againAt) {
      last = check()
      againAt = performance.now() + intervalMs
    }
    return last
  }
}
