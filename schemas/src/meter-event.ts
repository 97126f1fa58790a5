import avro from 'avsc'

/** Which way a metered call ended. Only `success` counts toward limits and billing; the others are kept for analytics. */
export const outcomes = ['success', 'paywall', 'fail'] as const
export type Outcome = (typeof outcomes)[number]

/** One usage record as it travels through the log. */
export type MeterEvent = {
  /** `usage_...`: a hash of (environment, provider, customer, idempotency key) when the client gave a key, else random. */
  readonly id: string
  readonly providerId: string
  /** The customer reference exactly as the client gave it. */
  readonly customerRef: string
  readonly meterName: string
  /** 10^-6 units; a safe integer. */
  readonly value: number
  /** When the usage happened, Unix milliseconds. */
  readonly timestamp: number
  /** When we took it, Unix milliseconds. */
  readonly receivedAt: number
  readonly productRef: string | null
  readonly purchaseRef: string | null
  readonly outcome: Outcome
  /** The operation that recorded it: `usages` or `meter-events`. */
  readonly source: string
  readonly idempotencyKey: string | null
  /** A JSON object as text. */
  readonly properties: string
  /** The reservation that this usage makes use of (reservation-reference.ts), as the client named it. */
  readonly reservationId: string | null
  /** Where in a sampled trace the event was taken, as W3C `traceparent`; null: nobody follows this one. */
  readonly traceParent: string | null
  /** What was taken from the customer's wallet for it: 10^-6 credits as decimal text; null: nothing. */
  readonly debit: string | null
}

/**
 * The Avro writer schema. Rules of evolution: a new field gets a default; no field is removed, renamed or retyped;
 * a new schema is a new id in `meterEventSchemas`, and every old id stays readable for as long as the log keeps records.
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

/** Writer schemas by the id that stands in front of every record, where no schema registry gives others. */
export const meterEventSchemas: ReadonlyMap<number, avro.Schema> = new Map([
  [1, meterEventV1 as unknown as avro.Schema],
  [2, meterEventV2 as unknown as avro.Schema],
  [3, meterEventV3 as unknown as avro.Schema],
  [4, meterEventV4 as unknown as avro.Schema],
])

/** The id new records are written with, where no schema registry gives another one. */
export const currentSchemaId = 4

/** The Confluent wire format: a zero byte, the schema id in four bytes, then the Avro body. */
export const wireHeaderBytes = 5

/**
 * avsc writes longs below -2^52 wrongly (it doubles them as floating point for the zigzag form), and reaches neither
 * end of the safe integers. Amounts use all of them, so they take this way, which costs 0.1 microseconds more. Readers
 * that do not know the logical type see the plain long that it is.
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

/** How avsc is to read a meter event schema. Fresh every time, because avsc keeps the names of types in it. */
export function meterEventTypeOptions(): Partial<avro.ForSchemaOptions> {
  return {
    wrapUnions: false,
    typeHook: (part) => (isMicros(part) ? exactLong : undefined),
  }
}

/** The one way to make a codec of a meter event schema. */
export function meterEventType(schema: avro.Schema): avro.Type {
  return avro.Type.forSchema(schema, meterEventTypeOptions())
}

function isMicros(part: avro.Schema): boolean {
  return typeof part === 'object' && 'logicalType' in part && part.logicalType === 'micros'
}

/** Thrown for bytes that are no meter event of a known schema. */
export class MeterEventFormatError extends Error {
  override readonly name = 'MeterEventFormatError'
}
