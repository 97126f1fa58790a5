import type { Database } from '@tollgate/platform/database/database'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import type { Journal } from './journal.ts'

/** The engines, with tables and topics made, in which there is nothing but what this move has brought. */
export type Target = {
  readonly database: Database
  readonly usageStore: UsageStore
  readonly log: EventLog
  /** What the log calls the schema of new records. */
  readonly schemaId: number
  readonly partitionCount: (environment: Environment) => number
  readonly journal: Journal
}
