/** What every composition root returns. */
export interface Service {
  start(): Promise<void>
  /** Stops taking work, finishes what is in flight, closes what it opened. Safe to call twice. */
  stop(): Promise<void>
}
