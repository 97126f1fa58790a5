/** The source of the current time. Code whose decisions depend on time takes it as a parameter, so that tests can set it. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }
