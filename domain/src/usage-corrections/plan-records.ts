import { correctionKey, correctionRecordId } from '@tollgate/schemas/correction-records'
import type { Environment } from '@tollgate/schemas/environment'
import type { CorrectionRecord } from '@tollgate/schemas/http/usage-corrections'
import { isPlainObject, type JsonObject } from '@tollgate/schemas/json-object'
import { divideRounded } from '../money/decimal.ts'
import type { CorrectionChange } from './correction.ts'

/** An original record with its remaining units and credits after all earlier corrections. */
export type StoredRecord = {
  readonly id: string
  readonly customerRef: string
  /** Unix milliseconds. */
  readonly timestamp: number
  readonly productRef: string
  readonly purchaseRef: string
  /** A JSON object as text. */
  readonly properties: string
  readonly eventType: string
  readonly dimensions: Readonly<Record<string, string>>
  /** Remaining units, one entry for each meter of the record, in the order of the meters. */
  readonly counts: readonly StoredCount[]
  /** The remaining debit, in 10^-6 credits. */
  readonly debitMicros: bigint
}

export type StoredCount = {
  readonly meterName: string
  /** Remaining 10^-6 units. */
  readonly micros: bigint
  /** The text that a meter of different values counts; empty for all other meters. */
  readonly text: string
}

/** The difference on one meter, in 10^-6 units. */
export type CountDifference = { readonly meterName: string; readonly micros: bigint }

/** The difference that a correction makes to one record. */
export type RecordDifference = {
  readonly counts: readonly CountDifference[]
  /** 10^-6 credits, never positive. */
  readonly debitMicros: bigint
}

/**
 * Returns the difference that a correction makes to a record, `skipped` if the record cannot have the value, or undefined if nothing
 * changes. `set` skips records that count on several meters, because their debit cannot be divided between the meters.
 */
export function decideDifference(
  record: StoredRecord,
  { action, valueMicros }: CorrectionChange,
): RecordDifference | 'skipped' | undefined {
  if (action === 'set') return setDifference(record, valueMicros!)
  const counts = record.counts
    .filter(({ micros }) => micros !== 0n)
    .map(({ meterName, micros }) => ({ meterName, micros: -micros }))
  if (counts.length === 0 && record.debitMicros <= 0n) return undefined
  return { counts, debitMicros: record.debitMicros > 0n ? -record.debitMicros : 0n }
}

function setDifference(
  { counts, debitMicros }: StoredRecord,
  valueMicros: bigint,
): RecordDifference | 'skipped' | undefined {
  const [count] = counts
  if (count === undefined || counts.length > 1 || count.text !== '') return 'skipped'
  const { meterName, micros } = count
  if (micros === valueMicros) return undefined
  const isLess = micros > valueMicros && debitMicros > 0n
  // A larger value debits no wallet: a correction commits no customer to a payment.
  const returned = isLess ? divideRounded(debitMicros * (micros - valueMicros), micros) : 0n
  return { counts: [{ meterName, micros: valueMicros - micros }], debitMicros: -returned }
}

/** Returns the record that a correction appends to make the difference. It is a copy of the original in everything else. */
export function correctionRecord(
  scope: { readonly environment: Environment; readonly providerId: string },
  correctionRef: string,
  original: StoredRecord,
  difference: RecordDifference,
): CorrectionRecord {
  const { id, counts } = original
  const changed = new Map(difference.counts.map(({ meterName, micros }) => [meterName, micros]))
  const countsOfRecord = counts
    .filter(({ meterName }) => changed.has(meterName))
    .map(({ meterName, text }) => {
      const value = Number(changed.get(meterName))
      return { meterName, value, text: text === '' ? null : text }
    })
  const [first] = countsOfRecord
  const isPlain = countsOfRecord.length === 1 && first!.text === null
  // A record without any count would lose its debit, so a record that only returns credits counts 0 on a meter of the original.
  const own = isPlain
    ? first!
    : { meterName: countsOfRecord.length === 0 ? (counts[0]?.meterName ?? '') : '', value: 0 }
  return {
    id: correctionRecordId(scope.environment, scope.providerId, correctionRef, original),
    idempotencyKey: correctionKey(correctionRef, id),
    customerRef: original.customerRef,
    meterName: own.meterName,
    value: own.value,
    timestamp: original.timestamp,
    productRef: original.productRef || null,
    purchaseRef: original.purchaseRef || null,
    properties: withCorrection(original.properties, { reference: correctionRef, corrects: id }),
    debit: difference.debitMicros === 0n ? null : difference.debitMicros.toString(),
    eventType: original.eventType || null,
    dimensions: { ...original.dimensions },
    counts: isPlain ? [] : countsOfRecord,
  }
}

/** Returns the properties with one more, which names the correction and the original record. */
function withCorrection(
  properties: string,
  correction: { readonly reference: string; readonly corrects: string },
): string {
  return JSON.stringify({ ...objectOf(properties), correction })
}

/** Records that were moved here may lack properties. They must not keep the corrections of a provider from being applied. */
function objectOf(text: string): JsonObject {
  try {
    const given: unknown = JSON.parse(text)
    return isPlainObject(given) ? given : {}
  } catch {
    return {}
  }
}
