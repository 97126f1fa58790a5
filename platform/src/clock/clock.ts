/** Where the time comes from. Passed in wherever a decision depends on it, so that a test can own it. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }
