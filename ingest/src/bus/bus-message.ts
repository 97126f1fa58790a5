import { isPlainObject } from '@tollgate/schemas/json-object'
import { hash } from 'node:crypto'
import { acceptMeterEvent } from '@tollgate/schemas/http/accept-meter-event'
import { meterEventSchema, type MeterEventInput } from '@tollgate/schemas/http/meter-events'
import { referenceCharsMax } from '@tollgate/schemas/limits'
import { parseBody } from '../domain/parse-body.ts'

/** One message as both modes have it. */
export type BusMessage = {
  readonly subject: string
  readonly data: Uint8Array
  /** Names the message, the same at every delivery: keys of its items begin with it. */
  readonly name: string
  /** When the bus took it, which is the time of items that have none of their own. */
  readonly sentAtMs: number
  /** Where it is in its stream, for log lines. */
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

export type ReadItem =
  | { readonly kind: 'item'; readonly index: number; readonly input: MeterEventInput }
  | { readonly kind: 'bad'; readonly index: number; readonly reason: BadItemReason }

/** Returns the items of a message, or undefined if it is no message of the bus at all. */
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

/** The publisher's own key, else one that is the same at every delivery of the message. Undefined: it cannot be used. */
function keyOf({ properties, idempotencyKey }: MeterEventInput, made: string): string | undefined {
  const own = properties?.['idempotencyKey'] ?? idempotencyKey ?? ''
  if (own === '') return made.length <= referenceCharsMax ? made : `nats:${hash('sha256', made)}`
  const { shape } = meterEventSchema
  return shape.idempotencyKey.safeParse(own).data
}

/** Of a message that its publisher named in the header `Nats-Msg-Id`. */
export function nameOfMessageId(messageId: string): string {
  return `nats:id:${messageId}`
}
