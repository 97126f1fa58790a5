/** Rates of one client in the same process as its callers. */
export type ClientRates = {
  readonly name: string
  /** Append rates by the number of concurrent appenders. Each appender waits for one record before it sends the next. */
  readonly appends: ReadonlyMap<number, AppendRate>
  /** Records per second when reading the partitions one after the other. Undefined if the client cannot read from an offset. */
  readonly readsPerSecond: number | undefined
}

export type AppendRate = {
  readonly perSecond: number
  readonly p99Ms: number
  /** CPU time per append in microseconds, including the appenders. */
  readonly processorUs: number
}

/** Numbers of concurrent appenders to measure. */
export const appendersOf = [64, 256] as const
