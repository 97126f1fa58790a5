import type { Database } from '@tollgate/platform/database/database'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'

/** A stopped embedded installation, opened for reading. */
export type Source = {
  readonly database: Database
  readonly usageStore: UsageStore
  readonly log: EventLog
  readonly partitions: readonly SourcePartition[]
  /** Identifies the installation, independent of its folder. */
  readonly id: string
  /** Digest that changes with any change of the installation's content. */
  readonly state: string
}

export type SourcePartition = {
  readonly environment: Environment
  readonly partition: number
  /** Every record with a smaller offset is in ClickHouse. */
  readonly storedTo: number
  /** Offset after the last record. */
  readonly head: number
}
