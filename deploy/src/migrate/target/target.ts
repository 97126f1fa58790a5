import type { Database } from '@tollgate/platform/database/database'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import type { Journal } from './journal.ts'

/** The opened engines with their tables and topics. They contain only what this move has written. */
export type Target = {
  readonly database: Database
  readonly usageStore: UsageStore
  readonly log: EventLog
  /** Id of the schema of new records in the log. */
  readonly schemaId: number
  readonly partitionCount: (environment: Environment) => number
  readonly journal: Journal
}
