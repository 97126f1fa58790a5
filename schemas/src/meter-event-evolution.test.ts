import { createHash } from 'node:crypto'
import type avro from 'avsc'
import { describe, expect, it } from 'vitest'
import { encodeMeterEvent } from './meter-event-codec.ts'
import { faultsOfEvolution } from './meter-event-evolution.ts'
import type { RecordField, RecordSchema } from './meter-event-evolution.ts'
import {
  currentSchemaId,
  meterEventSchemas,
  meterEventType,
  wireHeaderBytes,
} from './meter-event.ts'
import { withoutCounts, type MeterEvent } from './meter-event.ts'

const schemas = [...meterEventSchemas].sort(([a], [b]) => a - b)
const current = meterEventSchemas.get(currentSchemaId) as unknown as RecordSchema

const event: MeterEvent = {
  id: 'usage_A',
  providerId: 'prv_A',
  customerRef: 'cus_a',
  meterName: 'requests',
  value: -9e15,
  timestamp: 1_750_000_000_000,
  receivedAt: 1_750_000_000_001,
  productRef: 'prd_A',
  purchaseRef: null,
  outcome: 'success',
  source: 'usages',
  idempotencyKey: null,
  properties: '{}',
  reservationId: null,
  traceParent: null,
  debit: null,
  ...withoutCounts,
}

const later: RecordSchema = {
  ...current,
  fields: [...current.fields, { name: 'region', type: ['null', 'string'], default: null }],
}

const currentType = typeOf(current)
const laterType = typeOf(later)

function typeOf(schema: RecordSchema): avro.Type {
  return meterEventType(schema as unknown as avro.Schema)
}

describe('the schemas of meter events', () => {
  it('follow each other by the rules of evolution', () => {
    for (const [index, [id, schema]] of schemas.entries()) {
      const previous = schemas[index - 1]?.[1]
      if (previous === undefined) continue
      const faults = faultsOfEvolution(previous as never, schema as never)
      expect({ id, faults }).toEqual({ id, faults: [] })
    }
  })

  // A schema is never edited: its records are still in the log.
  it.each([
    [1, 'fbe9e9444ead18ea'],
    [2, '24b75678f540d37a'],
    [3, '8d7e363781c51c0f'],
    [4, 'c51529c58aed65c7'],
    [5, '551f1268b4c8075a'],
  ])('keep schema %d unchanged', (id, fingerprint) => {
    const text = JSON.stringify(meterEventSchemas.get(id))
    expect(createHash('sha256').update(text).digest('hex').slice(0, 16)).toBe(fingerprint)
  })

  it('end with the one that is written', () => {
    expect(schemas.at(-1)?.[0]).toBe(currentSchemaId)
  })
})

describe('a schema with one additional field', () => {
  it('reads current records', () => {
    const buffer = Buffer.alloc(1000)
    const end = encodeMeterEvent(event, buffer, 0)
    const resolver = laterType.createResolver(currentType)
    const body = buffer.subarray(wireHeaderBytes, end)
    expect(laterType.fromBuffer(body, resolver)).toEqual({ ...event, region: null })
  })

  it('is readable by a current reader', () => {
    const body = laterType.toBuffer({ ...event, region: 'eu' })
    const resolver = currentType.createResolver(laterType)
    expect(currentType.fromBuffer(body, resolver)).toEqual(event)
  })
})

describe('the rules of evolution', () => {
  const withFields = (change: (fields: readonly RecordField[]) => readonly RecordField[]) =>
    faultsOfEvolution(current, { ...current, fields: change(current.fields) })

  it.each<[string, (fields: readonly RecordField[]) => readonly RecordField[], string[]]>([
    ['nothing', (fields) => fields, []],
    ['a defaulted field', () => later.fields, []],
    ['another order', (fields) => [...fields].reverse(), []],
    ['a removed field', (fields) => fields.slice(1), ['id was removed']],
    [
      'a renamed field',
      ([first, ...rest]) => [{ ...first!, name: 'identity' }, ...rest],
      ['id was removed', 'identity is new and has no default'],
    ],
    [
      'a retyped field',
      ([first, ...rest]) => [{ ...first!, type: 'bytes' }, ...rest],
      ['id was retyped'],
    ],
    [
      'a field without a default',
      (fields) => [...fields, { name: 'region', type: 'string' }],
      ['region is new and has no default'],
    ],
    [
      'another default',
      (fields) => fields.map((field) => ('default' in field ? { ...field, default: '' } : field)),
      [
        ...['productRef', 'purchaseRef', 'idempotencyKey', 'reservationId', 'traceParent', 'debit'],
        ...['eventType', 'dimensions', 'counts'],
      ].map((name) => `${name} got another default`),
    ],
  ])('%s', (_name, change, faults) => {
    expect(withFields(change)).toEqual(faults)
  })

  it('refuse an enumeration that has grown', () => {
    const grown = withFields((fields) =>
      fields.map((field) =>
        field.name === 'outcome'
          ? { ...field, type: { ...(field.type as object), symbols: ['success', 'refund'] } }
          : field,
      ),
    )
    expect(grown).toEqual(['outcome was retyped'])
  })
})
