import type {
  CorrectedUsage,
  CorrectionChange,
} from '@tollgate/domain/usage-corrections/correction'
import {
  correctionRecord,
  decideDifference,
  type CountDifference,
  type StoredRecord,
} from '@tollgate/domain/usage-corrections/plan-records'
import type { CorrectionRecord } from '@tollgate/schemas/http/usage-corrections'
import type { CorrectionScope } from './read-page.ts'
import type { RecordToCorrect } from './read-records.ts'

/** A record that a page changes, also if an earlier attempt has appended the change. */
export type ChangedRecord = {
  readonly record: StoredRecord
  readonly counts: readonly CountDifference[]
  readonly returnedMicros: bigint
}

export type PlannedPage = {
  /** What is to be appended. Records that an earlier attempt has appended are left out. */
  readonly toAppend: readonly CorrectionRecord[]
  readonly changed: readonly ChangedRecord[]
  readonly skipped: number
}

/** Returns what a page of records becomes. The same records after a crash give the same changes. */
export function planPage(
  scope: CorrectionScope,
  reference: string,
  change: CorrectionChange,
  records: readonly RecordToCorrect[],
): PlannedPage {
  const toAppend: CorrectionRecord[] = []
  const changed: ChangedRecord[] = []
  let skipped = 0
  for (const { record, made, madeReturnedMicros } of records) {
    if (made !== undefined) {
      changed.push({ record, counts: made, returnedMicros: madeReturnedMicros })
      continue
    }
    const difference = decideDifference(record, change)
    if (difference === 'skipped') skipped += 1
    if (difference === undefined || difference === 'skipped') continue
    toAppend.push(correctionRecord(scope, reference, record, difference))
    const { counts, debitMicros } = difference
    changed.push({ record, counts, returnedMicros: -debitMicros })
  }
  return { toAppend, changed, skipped }
}

/** Adds the changes up by customer, product and meter. The credits of a record count with its first meter. */
export function sumChanges(changed: readonly ChangedRecord[]): CorrectedUsage[] {
  const sums = new Map<string, CorrectedUsage>()
  for (const { record, counts, returnedMicros } of changed) {
    const { customerRef, productRef } = record
    for (const [index, { meterName, micros }] of counts.entries()) {
      const key = JSON.stringify([customerRef, productRef, meterName])
      const { records, ...known } = sums.get(key) ?? { records: 0, micros: 0n, returnedMicros: 0n }
      sums.set(key, {
        customerRef,
        productRef,
        meterName,
        records: records + 1,
        micros: known.micros + micros,
        returnedMicros: known.returnedMicros + (index === 0 ? returnedMicros : 0n),
      })
    }
  }
  return [...sums.values()]
}
