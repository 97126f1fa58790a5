import type { Database } from '@tollgate/platform/database/database'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { Environment } from '@tollgate/schemas/environment'

/** Dependencies of publishing. */
export type PublisherParts = {
  readonly database: Database
  readonly hotState: HotState
  /** Number of partitions of the environment's usage topic. Entries are stored next to the counters of their subject. */
  readonly partitionCount: (environment: Environment) => number
  readonly now: () => Date
}
