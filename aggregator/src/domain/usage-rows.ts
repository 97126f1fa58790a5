import type { EventRecord, UnreadableRecord } from './decoded-batch.ts'
import { decimalText } from './decimal-text.ts'
import { timestampText } from './timestamp-text.ts'
import { LineBuffer } from './line-buffer.ts'
import { decideVerdict } from './verdict.ts'

export type Rows = {
  /** Newline-separated JSON objects, in a buffer of the batch's own. */
  readonly jsonLines: Uint8Array
  readonly rowTotal: number
  readonly duplicateTotal: number
}

/** The `usage_records` rows of a batch: every record but duplicates, in the order of the log. */
export function usageRows(
  partition: number,
  events: readonly EventRecord[],
  firstOffsets: ReadonlyMap<string, number>,
): Rows {
  const lines = new LineBuffer(events.length * rowBytesGuess)
  let rowTotal = 0
  for (const record of events) {
    const { event, offset } = record
    const first = event.idempotencyKey === null ? undefined : firstOffsets.get(event.id)
    if (decideVerdict(offset, event, first).kind === 'duplicate') continue
    lines.add(usageRow(partition, record))
    rowTotal++
  }
  return { jsonLines: lines.finish(), rowTotal, duplicateTotal: events.length - rowTotal }
}

/** A row of ordinary traffic is shorter. */
const rowBytesGuess = 512

function usageRow(partition: number, { offset, event }: EventRecord): string {
  return (
    `{"id":${quoted(event.id)},"provider_id":${quoted(event.providerId)}` +
    `,"customer_ref":${quoted(event.customerRef)},"meter_name":${quoted(event.meterName)}` +
    `,"value":${decimalText(event.value)}` +
    `,"timestamp":"${timestampText(event.timestamp)}","received_at":"${timestampText(event.receivedAt)}"` +
    `,"product_ref":${quoted(event.productRef)},"purchase_ref":${quoted(event.purchaseRef)}` +
    `,"outcome":"${event.outcome}","source":${quoted(event.source)}` +
    `,"idempotency_key":${quoted(event.idempotencyKey)},"properties":${quoted(event.properties)}` +
    `,"log_partition":${partition},"log_offset":${offset}}\n`
  )
}

/** The `unreadable_records` rows of a batch: the bytes as they stood in the log, for whoever finds out what they are. */
export function unreadableRows(partition: number, records: readonly UnreadableRecord[]): string {
  let jsonLines = ''
  for (const { offset, receivedAtMs, value, error } of records) {
    const raw = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
    jsonLines +=
      `{"log_partition":${partition},"log_offset":${offset}` +
      `,"received_at":"${timestampText(receivedAtMs)}","error":${quoted(error)},"raw":"${raw}"}\n`
  }
  return jsonLines
}

function quoted(text: string | null): string {
  return text === null ? '""' : JSON.stringify(text)
}
