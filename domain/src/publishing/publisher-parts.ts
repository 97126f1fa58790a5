import type { Database } from '@tollgate/platform/database/database'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { Environment } from '@tollgate/schemas/environment'

/** What publishing needs. */
export type PublisherParts = {
  readonly database: Database
  readonly hotState: HotState
  /** Partitions of the environment's usage topic: entries live beside the counters of their subject. */
  readonly partitionCount: (environment: Environment) => number
  readonly now: () => Date
}
