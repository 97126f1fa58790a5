/** What is checked by asking others for their settings is asked no more often than this, however often health is. */
export const setupIntervalMs = 15_000

/** Returns a check that is made once per interval. In between its last outcome counts. */
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
