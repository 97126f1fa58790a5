/** Result of every composition root. */
export interface Service {
  start(): Promise<void>
  /** Takes no more work, finishes the work in progress, and closes the parts that it opened. It may be called twice. */
  stop(): Promise<void>
}
