import type {
  RecordDifference,
  StoredRecord,
} from '@tollgate/domain/usage-corrections/plan-records'
import type {
  CorrectionCursor,
  CorrectionSelection,
} from '@tollgate/domain/usage-corrections/correction'
import { inParts, type StoredPart } from '@tollgate/domain/stored-usage/query-stored-usage'
import { storableMs } from '@tollgate/domain/stored-usage/storable-time'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import {
  correctedIdExpression,
  correctionKey,
  correctionSource,
} from '@tollgate/schemas/correction-records'
import type { Environment } from '@tollgate/schemas/environment'
import { definedFields } from '../domain/defined-fields.ts'
import { filterCondition } from '../usage/usage-filter.ts'

type Store = Pick<UsageStore, 'query'>

/** Selects original records of a correction, in the order in which it corrects them. */
type OriginalsQuery = {
  readonly environment: Environment
  readonly providerId: string
  readonly selection: CorrectionSelection
  /** All references of the customer; undefined for all customers. */
  readonly customerRefs: readonly string[] | undefined
  /** Only records from this time on, in Unix milliseconds. */
  readonly sinceMs: number
  /** Only records before these offsets. */
  readonly parts: readonly StoredPart[]
  readonly after: CorrectionCursor | undefined
  readonly recordsMax: number
}

export type Original = CorrectionCursor & { readonly customerRef: string }

/**
 * Returns the next original records. Only records that count are corrected. A record of several meters has a row for each meter, and only
 * its first row has the properties, so the conditions may hold for different rows.
 */
export async function listOriginals(store: Store, query: OriginalsQuery): Promise<Original[]> {
  const { environment, providerId, selection, customerRefs, sinceMs, parts, after } = query
  const filter = selection.kind === 'filter' ? selection : undefined
  const conditions = [
    'provider_id = {providerId:String}',
    `outcome = 'success'`,
    `source != '${correctionSource}'`,
    `timestamp >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')`,
  ]
  if (customerRefs !== undefined) conditions.push('customer_ref IN {customerRefs:Array(String)}')
  if (filter === undefined) conditions.push('id = {id:String}')
  else conditions.push(`timestamp < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')`)
  if (filter?.productRef !== undefined) conditions.push('product_ref = {productRef:String}')
  if (after !== undefined) {
    conditions.push('(toUnixTimestamp64Milli(timestamp), id) > ({afterMs:Int64}, {afterId:String})')
  }
  const { dimensions, properties } = filter ?? { dimensions: {}, properties: {} }
  const ofProperties = filterCondition(properties, [])
  // A dimension can have the name of a property, and both conditions hold.
  const ofDimensions = filterCondition(
    dimensions,
    Object.keys(dimensions),
    Object.keys(properties).length,
  )
  const ofMeter = filter?.meterName === undefined ? '1' : 'meter_name = {meterName:String}'
  const fromMs = Math.max(sinceMs, filter?.fromMs ?? 0, after?.ms ?? 0)
  const rows = await store.query<{ id: string; ms: string; customerRef: string }>(
    `SELECT id, toString(at) AS ms, any(customer) AS customerRef FROM (
       SELECT id, toUnixTimestamp64Milli(timestamp) AS at, customer_ref AS customer,
         ${ofMeter} AS is_of_meter, (1 ${ofProperties.text}${ofDimensions.text}) AS is_filtered
       FROM ${environment}.usage_records
       PREWHERE ${inParts(parts)}
       WHERE ${conditions.join(' AND ')})
     GROUP BY id, at HAVING max(is_of_meter) = 1 AND max(is_filtered) = 1
     ORDER BY at, id LIMIT {recordsMax:UInt32}`,
    {
      providerId,
      fromMs: storableMs(fromMs),
      recordsMax: query.recordsMax,
      ...(selection.kind === 'record'
        ? { id: selection.id }
        : { toMs: storableMs(selection.toMs) }),
      ...definedFields({
        ...{ customerRefs, productRef: filter?.productRef, meterName: filter?.meterName },
        ...{ afterMs: after?.ms, afterId: after?.id },
      }),
      ...ofProperties.parameters,
      ...ofDimensions.parameters,
    },
  )
  return rows.map(({ id, ms, customerRef }) => ({ id, ms: Number(ms), customerRef }))
}

/** An original record with its remaining units and credits, and the difference that this correction has already made. */
export type RecordToCorrect = {
  readonly record: StoredRecord
  /** The difference that an earlier attempt of this correction has appended. Undefined if none has. */
  readonly made: RecordDifference | undefined
}

type Row = {
  original: string
  source: string
  key: string
  customerRef: string
  meterName: string
  micros: string
  ms: string
  productRef: string
  purchaseRef: string
  properties: string
  debit: string
  eventType: string
  dimensions: Record<string, string>
  text: string
}

/**
 * Returns the original records with all corrections of them in these parts, in the order of the input. Rows that were stored twice are
 * one row by FINAL, whose condition is in PREWHERE as in `sumStored`. After a deduplication mark has expired, a record with the same
 * idempotency key gets the same id. Records are therefore distinguished by their time too, which corrections copy. The query widens
 * the decimal of a value, because the value times a million does not fit into the column's type.
 */
export async function readRecords(
  store: Store,
  { environment, providerId }: { readonly environment: Environment; readonly providerId: string },
  correctionRef: string,
  originals: readonly Original[],
  parts: readonly StoredPart[],
): Promise<RecordToCorrect[]> {
  if (originals.length === 0) return []
  const rows = await store.query<Row>(
    `SELECT ${correctedIdExpression} AS original, source, idempotency_key AS key, customer_ref AS customerRef,
       meter_name AS meterName, toString(toInt128(toDecimal128(value, 6) * 1000000)) AS micros,
       toString(toUnixTimestamp64Milli(timestamp)) AS ms, product_ref AS productRef,
       purchase_ref AS purchaseRef, properties, toString(toInt128(debit * 1000000)) AS debit,
       event_type AS eventType, dimensions, value_text AS text
     FROM ${environment}.usage_records FINAL
     PREWHERE ${inParts(parts)}
     WHERE provider_id = {providerId:String} AND customer_ref IN {customerRefs:Array(String)}
       AND timestamp >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
       AND timestamp <= fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
       AND original IN {ids:Array(String)} AND outcome = 'success'
     ORDER BY original, meter_name`,
    {
      providerId,
      customerRefs: [...new Set(originals.map(({ customerRef }) => customerRef))],
      fromMs: storableMs(originals[0]!.ms),
      toMs: storableMs(originals.at(-1)!.ms),
      ids: originals.map(({ id }) => id),
    },
  )
  const byOriginal = new Map<string, Row[]>()
  for (const row of rows) {
    const name = nameOf(row.original, row.ms)
    const known = byOriginal.get(name)
    if (known === undefined) byOriginal.set(name, [row])
    else known.push(row)
  }
  return originals.map(({ id, ms }) => {
    const ownRows = byOriginal.get(nameOf(id, String(ms))) ?? []
    return recordOf(id, ownRows, correctionRef)
  })
}

function nameOf(id: string, ms: string): string {
  return JSON.stringify([id, ms])
}

function recordOf(id: string, rows: readonly Row[], correctionRef: string): RecordToCorrect {
  const own = rows.filter(({ source }) => source !== correctionSource)
  const corrections = rows.filter(({ source }) => source === correctionSource)
  const [first] = own
  if (first === undefined) throw new Error(`usage record ${id} has disappeared`)
  const made = corrections.filter(({ key }) => key === correctionKey(correctionRef, id))
  const counts = own
    .filter(({ meterName }) => meterName !== '')
    .map(({ meterName, text }) => {
      const ofMeter = rows.filter((row) => row.meterName === meterName)
      return { meterName, text, micros: sumOf(ofMeter.map(({ micros }) => micros)) }
    })
  return {
    record: {
      id,
      customerRef: first.customerRef,
      timestamp: Number(first.ms),
      productRef: first.productRef,
      purchaseRef: first.purchaseRef,
      // All rows but the first have empty properties.
      properties: own.find(({ properties }) => properties !== '{}')?.properties ?? '{}',
      eventType: first.eventType,
      dimensions: first.dimensions,
      counts,
      debitMicros: sumOf(rows.map(({ debit }) => debit)),
    },
    made:
      made.length === 0
        ? undefined
        : {
            counts: made.map(({ meterName, micros }) => ({ meterName, micros: BigInt(micros) })),
            debitMicros: sumOf(made.map(({ debit }) => debit)),
          },
  }
}

function sumOf(micros: readonly string[]): bigint {
  return micros.reduce((sum, each) => sum + BigInt(each), 0n)
}
