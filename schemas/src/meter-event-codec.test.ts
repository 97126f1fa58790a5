import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decodeMeterEvent,
  encodeMeterEvent,
  knowsMeterEventSchema,
  learnMeterEventSchema,
  schemaIdOf,
} from './meter-event-codec.ts'
import {
  currentSchemaId,
  MeterEventFormatError,
  meterEventSchemas,
  meterEventType,
  outcomes,
  wireHeaderBytes,
} from './meter-event.ts'
import { withoutCounts, type MeterEvent } from './meter-event.ts'

type Decoded = { readonly value: MeterEvent; readonly offset: number }

const text = fc.string({ unit: 'grapheme' })

const eventFields = {
  id: text,
  providerId: text,
  customerRef: text,
  meterName: text,
  value: fc.maxSafeInteger(),
  timestamp: fc.integer({ min: 0, max: 8.64e15 }),
  receivedAt: fc.integer({ min: 0, max: 8.64e15 }),
  productRef: fc.option(text),
  purchaseRef: fc.option(text),
  outcome: fc.constantFrom(...outcomes),
  source: fc.constantFrom('usages', 'meter-events'),
  idempotencyKey: fc.option(text),
  properties: fc.json(),
  reservationId: fc.option(text),
  traceParent: fc.option(text),
  debit: fc.option(text),
  eventType: fc.option(text),
  // No meter has a dimension of that name.
  dimensions: fc.dictionary(
    text.filter((name) => name !== '__proto__'),
    text,
    {
      noNullPrototype: true,
    },
  ),
  counts: fc.array(
    fc.record({ meterName: text, value: fc.maxSafeInteger(), text: fc.option(text) }),
    { maxLength: 5 },
  ),
}

const events: fc.Arbitrary<MeterEvent> = fc.record(eventFields)

function encoded(event: MeterEvent): Buffer {
  const buffer = Buffer.alloc(65_536)
  return buffer.subarray(0, encodeMeterEvent(event, buffer, 0))
}

const sample = fc.sample(events, { numRuns: 1, seed: 7 })[0]!

describe('the codec of meter events', () => {
  it('decodes every encoded event unchanged', () => {
    fc.assert(
      fc.property(events, fc.nat(100), (event, position) => {
        const buffer = Buffer.alloc(65_536)
        const end = encodeMeterEvent(event, buffer, position)
        expect(decodeMeterEvent(buffer.subarray(position, end))).toEqual(event)
      }),
    )
  })

  it('writes the same bytes as avsc', () => {
    const type = meterEventType(meterEventSchemas.get(currentSchemaId)!)
    const longs = fc.oneof(
      fc.maxSafeInteger(),
      fc.constantFrom(0, -1, 63, 64, -64, -65, 8191, 8192),
    )
    const mixed = fc.oneof(
      text,
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.string({ unit: 'grapheme-ascii', minLength: 40, maxLength: 300 }),
    )
    const any = fc.record({
      ...eventFields,
      value: longs,
      timestamp: fc.oneof(eventFields.timestamp, fc.nat(10_000)),
      customerRef: mixed,
      properties: mixed,
    })
    fc.assert(
      fc.property(any, (event) => {
        expect(encoded(event).subarray(wireHeaderBytes)).toEqual(type.toBuffer(event))
      }),
      { numRuns: 2000 },
    )
  })

  it('reads any bytes like avsc, one event after another', () => {
    const type = meterEventType(meterEventSchemas.get(currentSchemaId)!)
    const repeated = fc.constantFrom('prv_1', 'prv_2', '', 'é'.repeat(20), 'x'.repeat(60))
    const similar = fc.record({
      ...eventFields,
      providerId: repeated,
      productRef: fc.option(repeated),
      counts: fc.array(
        fc.record({ meterName: repeated, value: fc.maxSafeInteger(), text: fc.option(repeated) }),
        { maxLength: 40 },
      ),
    })
    const damage = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      byte: fc.oneof(fc.constantFrom(0, 1, 2, 3, 127, 128, 255), fc.nat(255)),
      change: fc.constantFrom('none', 'none', 'set', 'remove', 'add', 'cut'),
    })
    fc.assert(
      fc.property(fc.oneof(events, similar), damage, (event, { at, byte, change }) => {
        const whole = encoded(event)
        const place = wireHeaderBytes + Math.floor(at * (whole.length - wireHeaderBytes))
        const [before, after] = [whole.subarray(0, place), whole.subarray(place)]
        const bytes = {
          none: whole,
          set: Buffer.concat([before, Buffer.of(byte), after.subarray(1)]),
          remove: Buffer.concat([before, after.subarray(1)]),
          add: Buffer.concat([before, Buffer.of(byte), after]),
          cut: before,
        }[change]
        let expected: unknown
        try {
          const decoded: Decoded = type.decode(bytes, wireHeaderBytes)
          expected = decoded.offset === bytes.length ? { ...decoded.value } : undefined
        } catch {
          expected = undefined
        }
        if (expected === undefined) {
          expect(() => decodeMeterEvent(bytes)).toThrow(MeterEventFormatError)
        } else {
          expect({ ...decodeMeterEvent(bytes) }).toEqual(expected)
        }
      }),
      { numRuns: 3_000 },
    )
  })

  it('uses one byte for each missing field that later schemas added', () => {
    const second = meterEventType(meterEventSchemas.get(2)!)
    const body = encoded({ ...sample, traceParent: null, debit: null, ...withoutCounts })
    expect(body.subarray(wireHeaderBytes)).toHaveLength(second.toBuffer(sample).length + 5)
  })

  it('decodes records of earlier releases', () => {
    const first = meterEventType(meterEventSchemas.get(1)!)
    const second = meterEventType(meterEventSchemas.get(2)!)
    const third = meterEventType(meterEventSchemas.get(3)!)
    const fourth = meterEventType(meterEventSchemas.get(4)!)
    const recordOf = (schemaId: number, body: Buffer): Buffer =>
      Buffer.concat([Buffer.from([0, 0, 0, 0, schemaId]), body])
    fc.assert(
      fc.property(events, (event) => {
        const inFourth = { ...event, ...withoutCounts }
        const inThird = { ...inFourth, debit: null }
        const inSecond = { ...inThird, traceParent: null }
        const inFirst = { ...inSecond, reservationId: null }
        expect(decodeMeterEvent(recordOf(4, fourth.toBuffer(inFourth)))).toEqual(inFourth)
        expect(decodeMeterEvent(recordOf(3, third.toBuffer(inThird)))).toEqual(inThird)
        expect(decodeMeterEvent(recordOf(2, second.toBuffer(inSecond)))).toEqual(inSecond)
        expect(decodeMeterEvent(recordOf(1, first.toBuffer(inFirst)))).toEqual(inFirst)
      }),
    )
  })

  it('returns how many bytes were missing, and that many are enough', () => {
    fc.assert(
      fc.property(events, fc.nat(200), (event, size) => {
        let buffer = Buffer.alloc(size)
        let end = encodeMeterEvent(event, buffer, 0)
        for (let attempt = 0; end < 0 && attempt < 3; attempt++) {
          buffer = Buffer.alloc(buffer.length - end)
          end = encodeMeterEvent(event, buffer, 0)
        }
        expect(decodeMeterEvent(buffer.subarray(0, end))).toEqual(event)
      }),
    )
  })

  it('decodes a view of a larger buffer and shares no memory with it', () => {
    const shared = new Uint8Array(65_536)
    const end = encodeMeterEvent(sample, Buffer.from(shared.buffer), 11)
    const event = decodeMeterEvent(shared.subarray(11, end))
    shared.fill(0xff)
    expect(event).toEqual(sample)
  })
})

describe('schema ids of a registry', () => {
  const buffer = Buffer.alloc(65_536)
  const current = meterEventSchemas.get(currentSchemaId)!

  it('are written on request, and decoded once they are learned', () => {
    const bytes = buffer.subarray(0, encodeMeterEvent(sample, buffer, 0, 4_000_000_001))
    expect(schemaIdOf(bytes)).toBe(4_000_000_001)
    expect(knowsMeterEventSchema(4_000_000_001)).toBe(false)
    expect(() => decodeMeterEvent(bytes)).toThrow(MeterEventFormatError)
    learnMeterEventSchema(4_000_000_001, meterEventType(current))
    expect(knowsMeterEventSchema(4_000_000_001)).toBe(true)
    expect(decodeMeterEvent(bytes)).toEqual(sample)
  })

  it('may belong to a schema that this release does not know', () => {
    const { fields, ...rest } = current as unknown as { fields: object[] }
    const newer = meterEventType({
      ...rest,
      fields: [...fields, { name: 'region', type: 'string', default: '' }],
    } as never)
    learnMeterEventSchema(4_000_000_002, newer)
    const body = newer.toBuffer({ ...sample, region: 'eu' })
    const header = Buffer.alloc(5)
    header.writeUInt32BE(4_000_000_002, 1)
    expect(decodeMeterEvent(Buffer.concat([header, body]))).toEqual(sample)
  })

  it('are refused if they belong to another kind of record', () => {
    const other = meterEventType({ type: 'record', name: 'Other', fields: [] } as never)
    expect(() => learnMeterEventSchema(4_000_000_003, other)).toThrow()
    expect(knowsMeterEventSchema(4_000_000_003)).toBe(false)
  })

  it('are missing in a record without a header', () => {
    expect(schemaIdOf(Buffer.alloc(0))).toBeUndefined()
    expect(schemaIdOf(Buffer.from([1, 0, 0, 0, 1]))).toBeUndefined()
  })
})

describe('bytes that are not a meter event', () => {
  it.each([
    ['nothing', Buffer.alloc(0)],
    ['half a header', Buffer.from([0, 0, 0])],
    ['another magic byte', Buffer.concat([Buffer.from([1]), encoded(sample).subarray(1)])],
    ['an unknown schema', Buffer.from([0, 0, 0, 0, 99, 1, 2, 3])],
    ['too little', encoded(sample).subarray(0, -1)],
    ['too much', Buffer.concat([encoded(sample), Buffer.from([0])])],
  ])('are refused: %s', (_name, bytes) => {
    expect(() => decodeMeterEvent(bytes)).toThrow(MeterEventFormatError)
  })

  it('cause no other error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (body, withHeader) => {
        const bytes = withHeader ? Buffer.from([0, 0, 0, 0, 1, ...body]) : Buffer.from(body)
        try {
          decodeMeterEvent(bytes)
        } catch (error) {
          expect(error).toBeInstanceOf(MeterEventFormatError)
        }
      }),
      { numRuns: 2000 },
    )
  })
})
