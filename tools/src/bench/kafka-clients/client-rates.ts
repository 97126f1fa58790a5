/** What one client does by itself, in the same process as those who append. */
export type ClientRates = {
  readonly name: string
  /** By how many append at a time, each one record after the other. */
  readonly appends: ReadonlyMap<number, AppendRate>
  /** Records per second, a partition after the other; undefined where the client cannot read what is asked for. */
  readonly readsPerSecond: number | undefined
}

export type AppendRate = {
  readonly perSecond: number
  readonly p99Ms: number
  /** Processor time of this process, those who append included. */
  readonly processorUs: number
}

/** How many append at a time. */
export const appendersOf = [64, 256] as const
