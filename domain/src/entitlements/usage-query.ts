import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { EntryAddress, EntryView, HotState } from '@tollgate/platform/hot-state/hot-state'
import type { Environment } from '@tollgate/schemas/environment'
import type { EntitlementDocuments } from './entitlement-documents.ts'
import type { Caller } from './shared-tail.ts'
import type { TailParts } from './tail-parts.ts'

export type UsageParts = TailParts & {
  readonly log: EventLog
  readonly hotState: HotState
  /** Spares whoever reads often the parsing of what was parsed before. */
  readonly documents?: EntitlementDocuments
}

export type UsageQuery = {
  readonly environment: Environment
  readonly providerId: string
  readonly customerRef: string
  readonly productRef: string
  readonly meterName: string
  /** Every reference of the customer, where the caller knows them; else the entitlement names them. */
  readonly customerRefs?: readonly string[]
  /** How long to wait at most for counters that have not seen all acknowledged usage yet. */
  readonly waitMs: number
  /** How many records of the log may be needed where waiting does not help. */
  readonly tailRecordsMax: number
  /** Who waits for the answer. Work for it stops once the caller is gone. */
  readonly caller?: Caller | undefined
}

/** What of a query one reference is read by. */
export type ReferenceQuery = Pick<
  UsageQuery,
  'environment' | 'providerId' | 'productRef' | 'meterName'
>

/** One reference of the customer: where its counters are, and how far they must be. */
export type Reading = {
  readonly customerRef: string
  readonly at: EntryAddress
  /** The log's head when the check began: records behind it were acknowledged before. */
  readonly head: number
  readonly view: EntryView
}
