import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import { isPlainObject, type JsonObject } from '@tollgate/schemas/json-object'
import { microsPerUnit } from '@tollgate/schemas/quantity'
import type { StoredEvent } from './recount.ts'

type EventRange = {
  readonly environment: Environment
  readonly providerId: string
  readonly meterName: string
  /** The type of event that the current version of the meter reads. */
  readonly type: string
  /** Half-open, in Unix milliseconds. */
  readonly fromMs: number
  readonly toMs: number
}

type Row = {
  id: string
  customer: string
  product: string
  at: string
  outcome: string
  source: string
  type: string
  own_meter: string
  own_micros: string
  properties: string
  is_counted: boolean
  counted_micros: string
  counted_text: string
}

/** A page is one query, which reads the rows of the customers from the last one on. */
const pageRows = 20_000

/**
 * Yields the records that the meter counted or may count now, page by page, by customer and time. A record has a row for each meter
 * that counts it. One of them has the properties: that of the meter that the call names, or one of a CloudEvent.
 */
export async function* readStoredEvents(
  store: Pick<UsageStore, 'query'>,
  range: EventRange,
): AsyncGenerator<readonly StoredEvent[]> {
  let after = { customer: '', at: '-1', id: '' }
  for (;;) {
    const rows = await store.query<Row>(statementOf(range), {
      providerId: range.providerId,
      meter: range.meterName,
      type: range.type,
      fromMs: range.fromMs,
      toMs: range.toMs,
      afterCustomer: after.customer,
      afterMs: after.at,
      afterId: after.id,
    })
    if (rows.length > 0) yield rows.map(fromRow)
    const last = rows.at(-1)
    if (last === undefined || rows.length < pageRows) return
    after = last
  }
}

function statementOf({ environment }: EventRange): string {
  return `
    SELECT id, customer_ref AS customer, toString(toUnixTimestamp64Milli(timestamp)) AS at,
      any(product_ref) AS product, any(outcome) AS outcome, any(source) AS source,
      any(event_type) AS type, argMax(properties, length(properties)) AS properties,
      anyIf(meter_name, meter_name = {type:String}) AS own_meter,
      toString(toInt128(anyIf(value, meter_name = {type:String}) * ${microsPerUnit})) AS own_micros,
      countIf(meter_name = {meter:String}) > 0 AS is_counted,
      toString(toInt128(anyIf(value, meter_name = {meter:String}) * ${microsPerUnit})) AS counted_micros,
      anyIf(value_text, meter_name = {meter:String}) AS counted_text
    FROM ${environment}.usage_records
    WHERE provider_id = {providerId:String}
      AND timestamp >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
      AND timestamp < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
      AND (meter_name = {meter:String} OR event_type = {type:String}
        OR (event_type = '' AND meter_name = {type:String}))
      AND customer_ref >= {afterCustomer:String}
      AND (customer_ref, timestamp, id) > ({afterCustomer:String},
        fromUnixTimestamp64Milli({afterMs:Int64}, 'UTC'), {afterId:String})
    GROUP BY customer_ref, timestamp, id
    ORDER BY customer_ref, timestamp, id LIMIT ${pageRows}`
}

function fromRow(row: Row): StoredEvent {
  return {
    id: row.id,
    customerRef: row.customer,
    productRef: row.product,
    atMs: Number(row.at),
    outcome: row.outcome,
    source: row.source,
    eventType: row.type,
    own: { meterName: row.own_meter, micros: Number(row.own_micros) },
    properties: parseJsonObject(row.properties),
    counted: row.is_counted ? { micros: Number(row.counted_micros), text: row.counted_text } : null,
  }
}

/** The sink stores only JSON objects. Rows that were inserted by hand may have anything else. */
function parseJsonObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    return isPlainObject(value) ? value : {}
  } catch {
    return {}
  }
}
