import avro from 'avsc'

/** Outcome of a metered call. Only `success` counts for limits and billing. The others are stored for analytics. */
export const outcomes = ['success', 'paywall', 'fail'] as const
export type Outcome = (typeof outcomes)[number]

/** One usage record as stored in the log. */
export type MeterEvent = {
  /** `usage_...`: a hash of environment, provider, customer and idempotency key if the client sent a key, otherwise random. */
  readonly id: string
  readonly providerId: string
  /** The customer reference exactly as the client sent it. */
  readonly customerRef: string
  readonly meterName: string
  /** 10^-6 units, as a safe integer. */
  readonly value: number
  /** Time of the usage in Unix milliseconds. */
  readonly timestamp: number
  /** Time at which ingest received the record, in Unix milliseconds. */
  readonly receivedAt: number
  readonly productRef: string | null
  readonly purchaseRef: string | null
  readonly outcome: Outcome
  /** The operation that recorded it: `usages` or `meter-events`. */
  readonly source: string
  readonly idempotencyKey: string | null
  /** A JSON object as text. */
  readonly properties: string
  /** How this usage uses a reservation, as `reservationUseText` returns it. */
  readonly reservationId: string | null
  /** W3C `traceparent` of the request if its trace is sampled, otherwise null. */
  readonly traceParent: string | null
  /** Debit of the customer's wallet in 10^-6 credits as decimal text, or null for none. */
  readonly debit: string | null
  /** The type of a CloudEvent, or null for records of all other operations. */
  readonly eventType: string | null
  /** Values of the dimensions that the counting meters declare, by the names of their properties. */
  readonly dimensions: Readonly<Record<string, string>>
  /** What the event counts in addition to `meterName` and `value`. */
  readonly counts: readonly EventCount[]
}

/** The fields of an event that counts only on its own meter. */
export const withoutCounts = { eventType: null, dimensions: {}, counts: [] } as const

/** What an event counts on one meter that reads events. */
export type EventCount = {
  readonly meterName: string
  /** 10^-6 units, as a safe integer. */
  readonly value: number
  /** The text that a meter of distinct values counts, or null for all other meters. */
  readonly text: string | null
}

/** The fields of an event that say what it counts. */
export type CountingEvent = Pick<MeterEvent, 'meterName' | 'value' | 'counts'>

/** An event's count on one meter, without what only the store of raw records needs. */
export type CountedUse = Pick<EventCount, 'meterName' | 'value'>

/**
 * Returns everything that an event counts, on each meter at most once. A CloudEvent names no meter itself: its `meterName` is
 * empty.
 */
export function countsOf(event: CountingEvent): readonly CountedUse[] {
  if (event.counts.length === 0) return event.meterName === '' ? [] : [event]
  return event.meterName === '' ? event.counts : [event, ...event.counts]
}

/**
 * The first Avro writer schema. Rules of evolution: a new field has a default; no field is removed, renamed or retyped; a new
 * schema has a new id in `meterEventSchemas`, and every old id stays readable while the log may have its records.
 */
const meterEventV1 = {
  type: 'record',
  name: 'MeterEvent',
  namespace: 'tollgate.usage',
  fields: [
    { name: 'id', type: 'string' },
    { name: 'providerId', type: 'string' },
    { name: 'customerRef', type: 'string' },
    { name: 'meterName', type: 'string' },
    { name: 'value', type: { type: 'long', logicalType: 'micros' }, doc: '10^-6 units' },
    { name: 'timestamp', type: 'long', doc: 'Unix milliseconds' },
    { name: 'receivedAt', type: 'long', doc: 'Unix milliseconds' },
    { name: 'productRef', type: ['null', 'string'], default: null },
    { name: 'purchaseRef', type: ['null', 'string'], default: null },
    { name: 'outcome', type: { type: 'enum', name: 'Outcome', symbols: [...outcomes] } },
    { name: 'source', type: 'string' },
    { name: 'idempotencyKey', type: ['null', 'string'], default: null },
    { name: 'properties', type: 'string', doc: 'a JSON object as text' },
  ],
} as const

const meterEventV2 = {
  ...meterEventV1,
  fields: [
    ...meterEventV1.fields,
    { name: 'reservationId', type: ['null', 'string'], default: null },
  ],
} as const

const meterEventV3 = {
  ...meterEventV2,
  fields: [
    ...meterEventV2.fields,
    { name: 'traceParent', type: ['null', 'string'], default: null },
  ],
} as const

const meterEventV4 = {
  ...meterEventV3,
  fields: [
    ...meterEventV3.fields,
    { name: 'debit', type: ['null', 'string'], default: null, doc: '10^-6 credits' },
  ],
} as const

const meterEventV5 = {
  ...meterEventV4,
  fields: [
    ...meterEventV4.fields,
    { name: 'eventType', type: ['null', 'string'], default: null, doc: 'type of a CloudEvent' },
    { name: 'dimensions', type: { type: 'map', values: 'string' }, default: {} },
    {
      name: 'counts',
      type: {
        type: 'array',
        items: {
          type: 'record',
          name: 'EventCount',
          fields: [
            { name: 'meterName', type: 'string' },
            { name: 'value', type: { type: 'long', logicalType: 'micros' }, doc: '10^-6 units' },
            { name: 'text', type: ['null', 'string'], default: null },
          ],
        },
      },
      default: [],
    },
  ],
} as const

/** Writer schemas by the id in the header of records, for logs without a schema registry. */
export const meterEventSchemas: ReadonlyMap<number, avro.Schema> = new Map([
  [1, meterEventV1 as unknown as avro.Schema],
  [2, meterEventV2 as unknown as avro.Schema],
  [3, meterEventV3 as unknown as avro.Schema],
  [4, meterEventV4 as unknown as avro.Schema],
  [5, meterEventV5 as unknown as avro.Schema],
])

/** Schema id of new records, for logs without a schema registry. */
export const currentSchemaId = 5

/** Header of the Confluent wire format: a zero byte and the schema id in four bytes. The Avro body follows. */
export const wireHeaderBytes = 5

/**
 * avsc writes longs below -2^52 wrongly, because its zigzag conversion doubles them as floating point, and does not cover all safe
 * integers. Amounts use all of them, so they need this type, which costs 0.1 µs more. Readers that do not know the logical type
 * read the plain long.
 */
const exactLong = avro.types.LongType.__with({
  fromBuffer(bytes: Buffer): number {
    const value = Number(bytes.readBigInt64LE())
    if (!Number.isSafeInteger(value)) throw new RangeError('The amount is no safe integer')
    return value
  },
  toBuffer(value: number): Buffer {
    const bytes = Buffer.allocUnsafe(8)
    bytes.writeBigInt64LE(BigInt(value))
    return bytes
  },
  fromJSON: Number,
  toJSON: Number,
  isValid: Number.isSafeInteger,
  compare: (a: number, b: number) => Math.sign(a - b),
})

/**
 * Returns the options with which avsc reads a meter event schema. They are new at every call, because avsc stores type names in
 * them.
 */
export function meterEventTypeOptions(): Partial<avro.ForSchemaOptions> {
  return {
    wrapUnions: false,
    typeHook: (part) => (isMicros(part) ? exactLong : undefined),
  }
}

/** Returns the codec of a meter event schema. All codecs must be created here. */
export function meterEventType(schema: avro.Schema): avro.Type {
  return avro.Type.forSchema(schema, meterEventTypeOptions())
}

function isMicros(part: avro.Schema): boolean {
  return typeof part === 'object' && 'logicalType' in part && part.logicalType === 'micros'
}

/** Thrown for bytes that are not a meter event of a known schema. */
export class MeterEventFormatError extends Error {
  override readonly name = 'MeterEventFormatError'
}
