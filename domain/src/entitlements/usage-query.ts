import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { EntryAddress, EntryView, HotState } from '@tollgate/platform/hot-state/hot-state'
import type { Environment } from '@tollgate/schemas/environment'
import type { EntitlementDocuments } from './entitlement-documents.ts'
import type { Caller } from './shared-tail.ts'
import type { TailParts } from './tail-parts.ts'

export type UsageParts = TailParts & {
  readonly log: EventLog
  readonly hotState: HotState
  /** Saves callers that read often from parsing the same document again. */
  readonly documents?: EntitlementDocuments
}

export type UsageQuery = {
  readonly environment: Environment
  readonly providerId: string
  readonly customerRef: string
  readonly productRef: string
  readonly meterName: string
  /** Every reference of the customer, if the caller knows them. Otherwise the entitlement names them. */
  readonly customerRefs?: readonly string[]
  /** Times in addition to the periods of the entitlement. */
  readonly spans?: readonly UsageSpan[]
  /** How long to wait at most for counters that do not include all acknowledged usage yet, in milliseconds. */
  readonly waitMs: number
  /** How many records of the log may be read if waiting does not help. */
  readonly tailRecordsMax: number
  /** The caller that waits for the answer. Work for the answer stops once the caller is gone. */
  readonly caller?: Caller | undefined
}

/** A time without an end, of which the hot state keeps the usage in buckets of a published spec. */
export type UsageSpan = {
  readonly id: string
  readonly specId: string
  readonly fromBucket: number
  /** Unix second at which that bucket begins. */
  readonly fromSecond: number
}

/** No record has a later time: 2100-01-01. */
export const endOfSpansSecond = 4_102_444_800

/** The usage of a span. */
export type SpanUsage = {
  readonly usedMicros: bigint
  /** Usage by bucket, as far as the counters have it. */
  readonly buckets: ReadonlyMap<number, bigint>
}

/** The fields of a query that are needed to read one reference. */
export type ReferenceQuery = Pick<
  UsageQuery,
  'environment' | 'providerId' | 'productRef' | 'meterName'
>

/** One reference of the customer: where its counters are, and how far they must be. */
export type Reading = {
  readonly customerRef: string
  readonly at: EntryAddress
  /** The log's head when the check began. All records before it were acknowledged before the check. */
  readonly head: number
  readonly view: EntryView
}
