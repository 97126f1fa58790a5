import type { Database } from '@tollgate/platform/database/database'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'

/** An embedded installation that is stopped, opened for reading. */
export type Source = {
  readonly database: Database
  readonly usageStore: UsageStore
  readonly log: EventLog
  readonly partitions: readonly SourcePartition[]
  /** Which installation it is, whatever folder it lies in. */
  readonly id: string
  /** Changes with all that the installation holds. */
  readonly state: string
}

export type SourcePartition = {
  readonly environment: Environment
  readonly partition: number
  /** Every record with a smaller offset is in ClickHouse. */
  readonly storedTo: number
  /** The offset after the last record. */
  readonly head: number
}
