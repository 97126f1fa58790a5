import type { Column } from '@tollgate/platform/usage-store/usage-store'
import type { EventCount } from '@tollgate/schemas/meter-event'
import { decimalFromMicros } from '@tollgate/schemas/quantity'
import type { EventRecord, UnreadableRecord } from './decoded-batch.ts'
import { decideVerdict } from './verdict.ts'

/** Returns the events of a batch that are stored in `usage_records`: all except duplicates, in the order of the log. */
export function eventsToStore(
  events: readonly EventRecord[],
  firstOffsets: ReadonlyMap<string, number>,
): EventRecord[] {
  return events.filter(({ offset, event }) => {
    const first = event.idempotencyKey === null ? undefined : firstOffsets.get(event.id)
    return decideVerdict(offset, event, first).kind !== 'duplicate'
  })
}

/** A row of `usage_records`: what a record counts on one meter. */
export type UsageRow = EventRecord & {
  /** The count that the row stores. It is undefined if the row stores the event's own meter and value. */
  readonly count?: EventCount | undefined
  /** Set for all rows of a record but its first, which alone has the debit and the properties. */
  readonly isFurther?: boolean
}

export function meterNameOf({ event, count }: UsageRow): string {
  return count === undefined ? event.meterName : count.meterName
}

/**
 * Returns the rows of events: one for each meter on which an event counts, with the event's own meter first. A CloudEvent that no
 * meter counts has one row without a meter. Only the first row of a record has the debit, which is paid once, and the properties,
 * which may be large.
 */
export function rowsOf(events: readonly EventRecord[]): readonly UsageRow[] {
  // Nearly all batches have only events with one count, which are their own rows.
  if (events.every(({ event }) => event.counts.length === 0)) return events
  const rows: UsageRow[] = []
  for (const { offset, event } of events) {
    const hasOwnRow = event.meterName !== '' || event.counts.length === 0
    if (hasOwnRow) rows.push({ offset, event, count: undefined, isFurther: false })
    for (const [index, count] of event.counts.entries()) {
      rows.push({ offset, event, count, isFurther: hasOwnRow || index > 0 })
    }
  }
  return rows
}

/** Returns the columns of `usage_records`. */
export function usageColumns(partition: number): readonly Column<UsageRow>[] {
  return [
    { name: 'id', type: 'String', value: ({ event }) => event.id },
    { name: 'provider_id', type: 'String', value: ({ event }) => event.providerId },
    { name: 'customer_ref', type: 'String', value: ({ event }) => event.customerRef },
    { name: 'meter_name', type: 'String', value: meterNameOf },
    { name: 'value', type: 'Decimal(18, 6)', value: ({ event, count }) => (count ?? event).value },
    { name: 'timestamp', type: "DateTime64(3, 'UTC')", value: ({ event }) => event.timestamp },
    { name: 'received_at', type: "DateTime64(3, 'UTC')", value: ({ event }) => event.receivedAt },
    { name: 'product_ref', type: 'String', value: ({ event }) => event.productRef ?? '' },
    { name: 'purchase_ref', type: 'String', value: ({ event }) => event.purchaseRef ?? '' },
    { name: 'outcome', type: 'String', value: ({ event }) => event.outcome },
    { name: 'source', type: 'String', value: ({ event }) => event.source },
    { name: 'idempotency_key', type: 'String', value: ({ event }) => event.idempotencyKey ?? '' },
    {
      name: 'properties',
      type: 'String',
      value: ({ event, isFurther }) => (isFurther === true ? '{}' : event.properties),
    },
    { name: 'debit', type: 'String', value: decimalDebit },
    { name: 'event_type', type: 'String', value: ({ event }) => event.eventType ?? '' },
    { name: 'dimensions', type: 'Map(String, String)', value: ({ event }) => event.dimensions },
    { name: 'value_text', type: 'String', value: ({ count }) => count?.text ?? '' },
    { name: 'is_further', type: 'UInt32', value: ({ isFurther }) => (isFurther === true ? 1 : 0) },
    { name: 'log_partition', type: 'UInt32', value: () => partition },
    { name: 'log_offset', type: 'UInt64', value: ({ offset }) => offset },
  ]
}

/** Returns the debit as text, because it may have more digits than a number. */
function decimalDebit({ event: { debit }, isFurther }: UsageRow): string {
  return debit === null || isFurther === true ? '0' : decimalFromMicros(BigInt(debit))
}

/** Returns the columns of `unreadable_records`. The bytes are stored as they are in the log, so that they can be examined later. */
export function unreadableColumns(partition: number): readonly Column<UnreadableRecord>[] {
  return [
    { name: 'log_partition', type: 'UInt32', value: () => partition },
    { name: 'log_offset', type: 'UInt64', value: ({ offset }) => offset },
    {
      name: 'received_at',
      type: "DateTime64(3, 'UTC')",
      value: ({ receivedAtMs }) => receivedAtMs,
    },
    { name: 'error', type: 'String', value: ({ error }) => error },
    { name: 'raw', type: 'String', value: ({ value }) => base64(value) },
  ]
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
