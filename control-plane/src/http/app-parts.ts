import type { Clock } from '@tollgate/platform/clock/clock'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Tracing } from '@tollgate/platform/observability/tracing'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { PublisherParts } from '@tollgate/domain/publications/publisher-parts'
import type { Environment } from '@tollgate/schemas/environment'
import type { PeriodUsage } from '../limits/period-usage.ts'

/** What the routes work with. */
export type AppParts = PublisherParts & {
  readonly clock: Clock
  readonly logger: Logger
  readonly tracing: Tracing | undefined
  readonly eventLog: EventLog
  readonly usageStore: UsageStore
  readonly usage: PeriodUsage
  /** Where customers reach the hosted pages, without a slash at its end. */
  readonly hostedUrl: string
  /** Of the payment processor, for browsers; '' where none is configured. */
  readonly publishableKeys: Readonly<Record<Environment, string>>
  readonly limits: AppLimits
}

export type AppLimits = {
  /** How long a list waits for the counters to reach what was acknowledged before it. */
  readonly countersWaitMs: number
  /** How long a usage query waits for the store to reach what was acknowledged before it. */
  readonly usageStoreWaitMs: number
  /** Seconds that a reservation may be held. */
  readonly reservationSecondsMax: number
  /** Reservations of one customer and product at a time. */
  readonly reservationsMax: number
  /** Purchases in one list; the wire has no paging for them. */
  readonly purchasesMax: number
  /** Buckets in one usage answer. */
  readonly bucketsMax: number
}
