import type {
  CorrectedUsage,
  CorrectionChange,
} from '@tollgate/domain/usage-corrections/correction'
import {
  correctionRecord,
  decideDifference,
  type RecordDifference,
  type StoredRecord,
} from '@tollgate/domain/usage-corrections/plan-records'
import type { CorrectionRecord } from '@tollgate/schemas/http/usage-corrections'
import type { CorrectionScope } from './read-page.ts'
import type { RecordToCorrect } from './read-records.ts'

/** A record that a page changes, also if an earlier attempt has appended the change. */
export type ChangedRecord = {
  readonly record: StoredRecord
  readonly difference: RecordDifference
}

export type PlannedPage = {
  /** The records that the page appends to the log, without those that an earlier attempt has appended. */
  readonly toAppend: readonly CorrectionRecord[]
  readonly changed: readonly ChangedRecord[]
  /** Number of records that cannot have the value of the correction. */
  readonly skipped: number
}

/** Decides the difference of each record of a page. After a crash, the same records have the same differences. */
export function planPage(
  scope: CorrectionScope,
  reference: string,
  change: CorrectionChange,
  records: readonly RecordToCorrect[],
): PlannedPage {
  const toAppend: CorrectionRecord[] = []
  const changed: ChangedRecord[] = []
  let skipped = 0
  for (const { record, made } of records) {
    const difference = made ?? decideDifference(record, change)
    if (difference === 'skipped') skipped += 1
    if (difference === undefined || difference === 'skipped') continue
    if (made === undefined) toAppend.push(correctionRecord(scope, reference, record, difference))
    changed.push({ record, difference })
  }
  return { toAppend, changed, skipped }
}

/**
 * Adds the changes to `sums`, by customer, product and meter, and returns the sums. The credits of a record count with its first meter.
 */
export function sumChanges(
  changed: readonly ChangedRecord[],
  sums = new Map<string, CorrectedUsage>(),
): ReadonlyMap<string, CorrectedUsage> {
  for (const { record, difference } of changed) {
    const { customerRef, productRef } = record
    for (const [index, { meterName, micros }] of difference.counts.entries()) {
      const key = JSON.stringify([customerRef, productRef, meterName])
      const { records, ...known } = sums.get(key) ?? { records: 0, micros: 0n, returnedMicros: 0n }
      sums.set(key, {
        customerRef,
        productRef,
        meterName,
        records: records + 1,
        micros: known.micros + micros,
        returnedMicros: known.returnedMicros - (index === 0 ? difference.debitMicros : 0n),
      })
    }
  }
  return sums
}
