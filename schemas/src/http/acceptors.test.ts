import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { acceptCloudEvent, acceptCloudEvents } from './accept-cloud-event.ts'
import { acceptLimits } from './accept-limits.ts'
import { cloudEventSchema, cloudEventsSchema } from './cloud-events.ts'
import { acceptMeterEvent, acceptMeterEventsBulk } from './accept-meter-event.ts'
import { acceptUsage, acceptUsagesBulk } from './accept-usage.ts'
import { limitsRequestSchema } from './limits.ts'
import { meterEventSchema, meterEventsBulkSchema } from './meter-events.ts'
import { usageSchema, usagesBulkSchema } from './usages.ts'

const hostile = fc.oneof(
  fc.anything({ withNullPrototype: true, withBigInt: true, withSparseArray: true }),
  fc.constantFrom(
    '',
    'x'.repeat(256),
    'x'.repeat(257),
    '\ud800',
    'a\0b',
    '__proto__',
    0,
    -0,
    -1,
    1.5,
    100_000,
    100_001,
    9e9,
    0.0000001,
    NaN,
    Infinity,
    null,
    undefined,
    '2024-02-29T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '2025-01-01T00:00:00',
    '2025-01-01T00:00:00.123456+02:00',
    '2025-01-01 00:00:00Z',
    '2025-01-01T24:00:00Z',
  ),
)

const objects = fc.oneof(
  fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor')), fc.jsonValue()),
  fc.constant(JSON.parse('{"__proto__": {"a": 1}}') as unknown),
  fc.object({ maxDepth: 10 }),
  fc.constant({ long: 'x'.repeat(20_000) }),
  fc.constant({ control: '\u0001'.repeat(2_700) }),
  fc.constant(Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`k${index}`, 1]))),
)

/** Returns mostly valid values, so that whole bodies are often valid, with some hostile ones. */
function field(good: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 12, arbitrary: good }, { weight: 1, arbitrary: hostile })
}

const reference = field(fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }))
const instant = field(
  fc
    .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
    .map((date) => date.toISOString()),
)

const usages = fc.record(
  {
    customerRef: reference,
    actionType: field(fc.constantFrom('transaction', 'api_call', 'custom')),
    units: field(fc.nat(100_000)),
    outcome: field(fc.constantFrom('success', 'paywall', 'fail')),
    productRef: reference,
    purchaseRef: reference,
    description: reference,
    errorMessage: reference,
    metadata: field(objects),
    duration: field(fc.double({ min: 0, noNaN: true })),
    timestamp: instant,
    idempotencyKey: reference,
    reservationId: reference,
    planRef: reference,
  },
  { requiredKeys: [] },
)

const meterEvents = fc.record(
  {
    customerRef: reference,
    meterName: reference,
    value: field(fc.nat(9e9).map((micros) => micros / 1e6)),
    productRef: reference,
    properties: field(objects),
    timestamp: instant,
    reservationId: reference,
  },
  { requiredKeys: [] },
)

const jsonEvents = fc.record(
  {
    specversion: field(fc.constant('1.0')),
    id: reference,
    source: reference,
    type: reference,
    subject: reference,
    time: instant,
    datacontenttype: field(
      fc.constantFrom('application/json', 'APPLICATION/x+JSON; charset=utf-8', 'text/json'),
    ),
    data: field(objects),
    productref: reference,
    purchaseref: reference,
    reservationid: reference,
    outcome: field(fc.constantFrom('success', 'paywall', 'fail')),
    traceparent: hostile,
  },
  { requiredKeys: ['specversion', 'id', 'source', 'type', 'subject'] },
)

const cloudEvents = fc.oneof(
  { weight: 9, arbitrary: jsonEvents },
  jsonEvents.map((event) => ({ ...event, data_base64: 'aa' })),
)

const limits = fc.record(
  {
    customerRef: reference,
    productRef: reference,
    meterName: reference,
    usageType: reference,
    includeCheckoutSession: field(fc.boolean()),
    reserve: field(
      fc.record(
        {
          units: field(fc.nat(9e9).map((micros) => micros / 1e6)),
          ttlSeconds: field(fc.integer({ min: 1, max: 86_400 })),
          other: hostile,
        },
        { requiredKeys: ['units', 'ttlSeconds'] },
      ),
    ),
    idempotencyKey: reference,
    planRef: reference,
  },
  { requiredKeys: [] },
)

function bulk(items: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const list = field(fc.array(items, { maxLength: 3 }))
  const full = fc.constant(Array.from({ length: 1001 }, () => ({ customerRef: 'cus_a' })))
  return fc.record(
    { events: fc.oneof({ weight: 9, arbitrary: list }, full), records: list, other: hostile },
    { requiredKeys: [] },
  )
}

/** A body with several items is valid more rarely, so more bodies are drawn. */
const bulkRuns = 10_000

/** Compares an acceptor with its schema and counts accepted bodies: a test in which none is accepted would prove little. */
function check<Output>(
  bodies: fc.Arbitrary<unknown>,
  schema: z.ZodType<Output>,
  accept: (body: unknown) => Output | undefined,
  numRuns = 5_000,
): number {
  let accepted = 0
  const property = fc.property(fc.oneof({ weight: 20, arbitrary: bodies }, hostile), (body) => {
    const output = accept(body)
    const parsed = schema.safeParse(body)
    expect(output).toEqual(parsed.data)
    if (parsed.success) accepted++
  })
  fc.assert(property, { numRuns })
  return accepted
}

describe('an acceptor accepts exactly what its schema accepts, with the same result', () => {
  it('usage', () => {
    expect(check(usages, usageSchema, acceptUsage)).toBeGreaterThan(200)
  })

  it('limit check', () => {
    expect(check(limits, limitsRequestSchema, acceptLimits)).toBeGreaterThan(200)
  })

  it('usages in bulk', () => {
    expect(check(bulk(usages), usagesBulkSchema, acceptUsagesBulk, bulkRuns)).toBeGreaterThan(50)
  })

  it('meter event', () => {
    expect(check(meterEvents, meterEventSchema, acceptMeterEvent)).toBeGreaterThan(200)
  })

  it('CloudEvent', () => {
    expect(check(cloudEvents, cloudEventSchema, acceptCloudEvent)).toBeGreaterThan(200)
  })

  it('CloudEvents in a batch', () => {
    const list = fc.array(cloudEvents, { maxLength: 2 })
    expect(check(list, cloudEventsSchema, acceptCloudEvents, bulkRuns)).toBeGreaterThan(50)
  })

  it('meter events in bulk', () => {
    expect(
      check(bulk(meterEvents), meterEventsBulkSchema, acceptMeterEventsBulk, bulkRuns),
    ).toBeGreaterThan(50)
  })
})

describe('an acceptor accepts the ordinary bodies of clients', () => {
  const customerRef = 'cus_abc'
  it.each([
    [{ customerRef }],
    [{ customerRef, planRef: 'pln_A', productRef: 'prd_A' }],
    [{ customerRef, metadata: { action: 'requests' }, timestamp: new Date().toISOString() }],
  ])('%j', (body) => {
    expect(acceptUsage(body)).toEqual(usageSchema.parse(body))
    expect(acceptMeterEvent(body)).toEqual(meterEventSchema.parse(body))
    expect(acceptUsagesBulk({ events: [body] })).toEqual(usagesBulkSchema.parse({ events: [body] }))
    expect(acceptMeterEventsBulk({ records: [body] })).toEqual({
      records: [acceptMeterEvent(body)],
    })
  })

  it('a limit check', () => {
    const body = { customerRef, productRef: 'prd_A', meterName: 'requests' }
    expect(acceptLimits(body)).toEqual(limitsRequestSchema.parse(body))
    const reserving = { ...body, reserve: { units: 0.5, ttlSeconds: 60 }, idempotencyKey: 'k' }
    expect(acceptLimits(reserving)).toEqual(limitsRequestSchema.parse(reserving))
  })
})
