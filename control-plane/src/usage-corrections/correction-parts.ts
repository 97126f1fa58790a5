import type { CorrectionTries } from '@tollgate/domain/usage-corrections/repository'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { AppendRecords } from './append-records.ts'

/** Everything that corrections of usage read and write. They append to the log only through `appendRecords`. */
export type CorrectionParts = {
  readonly publisher: PublisherParts
  readonly eventLog: Pick<EventLog, 'partitionCount' | 'head' | 'position'>
  readonly usageStore: Pick<UsageStore, 'query'>
  readonly appendRecords: AppendRecords
  readonly correctionLimits: {
    /** Records of one page. */
    readonly pageRecords: number
    /** How long a page waits until the usage store has all acknowledged usage, in milliseconds. */
    readonly storedWaitMs: number
    /** Maximum number of records of a dry run. */
    readonly previewRecordsMax: number
    /** How long a request waits until its correction is applied, in milliseconds. */
    readonly waitMs: number
  } & CorrectionTries
}
