import { isPlainObject } from '@tollgate/schemas/json-object'
import { hash } from 'node:crypto'
import { acceptMeterEvent } from '@tollgate/schemas/http/accept-meter-event'
import { meterEventSchema, type MeterEventInput } from '@tollgate/schemas/http/meter-events'
import { referenceCharsMax } from '@tollgate/schemas/limits'
import { parseBody } from '../domain/parse-body.ts'

/** One message of the bus, in the form that both NATS modes share. */
export type BusMessage = {
  readonly subject: string
  readonly data: Uint8Array
  /** Identifies the message and stays the same at every delivery. The idempotency keys of its items begin with it. */
  readonly name: string
  /** Time at which the bus received the message, in Unix milliseconds. Items without a timestamp get this time. */
  readonly sentAtMs: number
  /** Sequence number of the message in its stream. Only log lines use it. */
  readonly sequence?: number
}

export type BadItemReason =
  | 'malformed'
  | 'idempotency_key'
  | 'timestamp'
  | 'unknown_customer'
  | 'ambiguous_customer'
  | 'unknown_meter'
  | 'archived_meter'
  | 'event_meter'
  | 'meter_value'

export type ReadItem =
  | { readonly kind: 'item'; readonly index: number; readonly input: MeterEventInput }
  | { readonly kind: 'bad'; readonly index: number; readonly reason: BadItemReason }

/** Returns the items of a message, or undefined if the message is not a usage message at all. */
export function readMessage(message: BusMessage): ReadItem[] | undefined {
  const parsed = parseBody(
    Buffer.from(message.data.buffer, message.data.byteOffset, message.data.byteLength),
  )
  if (parsed.kind === 'refused' || !isPlainObject(parsed.value)) return undefined
  if (!message.subject.endsWith('.recordBulk')) return [readItem(message, parsed.value, 0)]
  const { events } = parsed.value
  if (!Array.isArray(events)) return undefined
  return events.map((item: unknown, index) => readItem(message, item, index))
}

function readItem({ name, sentAtMs }: BusMessage, item: unknown, index: number): ReadItem {
  if (!isPlainObject(item)) return { kind: 'bad', index, reason: 'malformed' }
  const fields = { ...item, customerRef: item['userId'] }
  const input = acceptMeterEvent(fields) ?? meterEventSchema.safeParse(fields).data
  if (input === undefined) return { kind: 'bad', index, reason: 'malformed' }
  const key = keyOf(input, `${name}:${index}`)
  if (key === undefined) return { kind: 'bad', index, reason: 'idempotency_key' }
  const timestamp = input.timestamp ?? new Date(sentAtMs).toISOString()
  return { kind: 'item', index, input: { ...input, timestamp, idempotencyKey: key } }
}

/**
 * Returns the publisher's idempotency key. If the item has none, returns a key that is the same at every delivery of the message.
 * Returns undefined if the publisher's key is not valid.
 */
function keyOf({ properties, idempotencyKey }: MeterEventInput, made: string): string | undefined {
  const own = properties?.['idempotencyKey'] ?? idempotencyKey ?? ''
  if (own === '') return made.length <= referenceCharsMax ? made : `nats:${hash('sha256', made)}`
  const { shape } = meterEventSchema
  return shape.idempotencyKey.safeParse(own).data
}

/** Returns the name of a message whose publisher set the header `Nats-Msg-Id`. */
export function nameOfMessageId(messageId: string): string {
  return `nats:id:${messageId}`
}
