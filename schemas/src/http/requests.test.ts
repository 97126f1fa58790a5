import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { bulkItems } from './bulk.ts'
import { customerCreateSchema, customerUpdateSchema } from './customers.ts'
import { clampPage } from './fields.ts'
import { limitsRequestSchema } from './limits.ts'
import { meterUsageQuerySchema } from './meters.ts'
import { meterEventSchema, meterEventsBulkSchema } from './meter-events.ts'
import { planCreateSchema } from './plans.ts'
import { productCreateSchema, productsQuerySchema, productUpdateSchema } from './products.ts'
import { purchasesQuerySchema } from './purchases.ts'
import { usageSchema, usagesBulkSchema } from './usages.ts'

const customerRef = 'cus_a'

/** Returns the paths of all faults, or an empty list for a valid body. */
function faults(schema: z.ZodType, body: unknown): string[] {
  const parsed = schema.safeParse(body)
  return parsed.success ? [] : parsed.error.issues.map(({ path }) => path.join('.'))
}

describe('usages', () => {
  it('get defaults for missing fields and lose unknown fields', () => {
    expect(usageSchema.parse({ customerRef, planRef: 'pln_A', meterName: 'x' })).toEqual({
      customerRef,
      actionType: 'api_call',
      units: 1,
      outcome: 'success',
    })
  })

  it.each<[string, object]>([
    ['no units', { units: 0 }],
    ['most units', { units: 100_000 }],
    ['whole units written as a fraction', { units: 2.0 }],
    ['every action', { actionType: 'storage' }],
    ['no duration', { duration: 0 }],
    ['an offset', { timestamp: '2025-01-01T00:00:00.123456+02:00' }],
    ['the longest key', { idempotencyKey: 'k'.repeat(256) }],
    ['an empty product', { productRef: '' }],
    ['the longest customer', { customerRef: 'c'.repeat(256) }],
  ])('accept %s', (_name, more) => {
    expect(faults(usageSchema, { customerRef, ...more })).toEqual([])
  })

  it.each<[string, string, object]>([
    ['no customer', 'customerRef', { customerRef: undefined }],
    ['an empty customer', 'customerRef', { customerRef: '' }],
    ['a customer of another type', 'customerRef', { customerRef: 7 }],
    ['a customer reference that is too long', 'customerRef', { customerRef: 'c'.repeat(257) }],
    ['half a character', 'customerRef', { customerRef: 'a\ud800' }],
    ['negative units', 'units', { units: -1 }],
    ['too many units', 'units', { units: 100_001 }],
    ['a fraction of a unit', 'units', { units: 1.5 }],
    ['units as text', 'units', { units: '1' }],
    ['an unknown action', 'actionType', { actionType: 'API_CALL' }],
    ['an unknown outcome', 'outcome', { outcome: 'denied' }],
    ['a negative duration', 'duration', { duration: -0.1 }],
    ['an infinite duration', 'duration', { duration: Infinity }],
    ['a date without a time', 'timestamp', { timestamp: '2025-01-01' }],
    ['a time without a zone', 'timestamp', { timestamp: '2025-01-01T00:00:00' }],
    ['a day that does not exist', 'timestamp', { timestamp: '2025-02-29T00:00:00Z' }],
    ['a Unix time', 'timestamp', { timestamp: 1_750_000_000 }],
    ['an idempotency key that is too long', 'idempotencyKey', { idempotencyKey: 'k'.repeat(257) }],
    [
      'a prototype',
      'metadata',
      { metadata: JSON.parse('{"__proto__":{"admin":true}}') as unknown },
    ],
    ['a list of metadata', 'metadata', { metadata: [] }],
  ])('refuse %s', (_name, path, more) => {
    expect(faults(usageSchema, { customerRef, ...more })).toEqual([path])
  })
})

describe('bulk', () => {
  const items = (count: number) => Array.from({ length: count }, () => ({ customerRef }))

  it.each([usagesBulkSchema, meterEventsBulkSchema])(
    'accepts its list under both names',
    (schema) => {
      for (const name of ['events', 'records'] as const) {
        const parsed = (schema as typeof usagesBulkSchema).parse({ [name]: items(1000) })
        expect(bulkItems(parsed)).toHaveLength(1000)
        expect(faults(schema, { [name]: items(1001) })).toEqual([name])
        expect(faults(schema, { [name]: [] })).toEqual([name])
      }
      expect(faults(schema, { events: items(1), records: items(1) })).toEqual(['records'])
    },
  )

  it('names the missing list and every invalid item', () => {
    expect(faults(usagesBulkSchema, {})).toEqual(['events'])
    expect(faults(meterEventsBulkSchema, {})).toEqual(['records'])
    const events = [{ customerRef }, { customerRef: '' }, { units: 1 }]
    expect(faults(usagesBulkSchema, { events })).toEqual([
      'events.1.customerRef',
      'events.2.customerRef',
    ])
  })
})

describe('meter events', () => {
  it('count one request by default', () => {
    expect(meterEventSchema.parse({ customerRef })).toEqual({
      customerRef,
      meterName: 'requests',
      value: 1,
    })
  })

  it.each([0, 0.000001, 9e9, 123.456789])('accept the value %d', (value) => {
    expect(faults(meterEventSchema, { customerRef, value })).toEqual([])
  })

  it.each([-1, 0.0000001, 9e9 + 1, Infinity, NaN, '1', null])('refuse the value %s', (value) => {
    expect(faults(meterEventSchema, { customerRef, value })).toContain('value')
  })

  it('refuse an empty meter name', () => {
    expect(faults(meterEventSchema, { customerRef, meterName: '' })).toEqual(['meterName'])
  })
})

describe('limit checks', () => {
  it('require a customer and a product', () => {
    expect(faults(limitsRequestSchema, {})).toEqual(['customerRef', 'productRef'])
    expect(
      limitsRequestSchema.parse({ customerRef, productRef: 'prd_A', usageType: 'tokens' }),
    ).toEqual({
      customerRef,
      productRef: 'prd_A',
      usageType: 'tokens',
      includeCheckoutSession: false,
    })
  })
})

describe('customers', () => {
  it.each([
    'a@b.co',
    'User.Name+tag@example-host.io',
    'user_1-1700000000000@auto-created.local',
    'auth0|1234-1700000000000@auto-created.local',
    'bob@example.com-1700000000000@auto-created.local',
    'Bob Sørensen-1700000000000@auto-created.local',
    'ü@example.com',
  ])('accept the address %s', (email) => {
    expect(faults(customerCreateSchema, { email })).toEqual([])
  })

  it.each([
    '',
    'nobody',
    'a@b',
    '@example.com',
    'a b@example.com',
    'a@@example.com',
    'a@b..com',
    'a@.com',
  ])('refuse the address %s', (email) => {
    const parsed = customerCreateSchema.safeParse({ email })
    expect(parsed.error?.issues[0]?.message).toBe('Invalid email format')
  })

  it('change only the given fields', () => {
    expect(customerUpdateSchema.parse({})).toEqual({})
    expect(faults(customerUpdateSchema, { externalRef: '' })).toEqual(['externalRef'])
  })
})

describe('products and plans', () => {
  it('require no free-form object', () => {
    expect(faults(productCreateSchema, { name: 'Reports', categories: ['x'] })).toEqual([])
    expect(faults(productCreateSchema, { name: '' })).toEqual(['name'])
    expect(faults(productUpdateSchema, {})).toEqual([])
    expect(faults(productUpdateSchema, { config: 'x', metadata: null })).toEqual([
      'config',
      'metadata',
    ])
  })

  it('have three known fields in a config and keep the others', () => {
    const config = { deliveryMethod: 'api', validityPeriod: 30, region: { only: ['EU'] } }
    expect(productCreateSchema.parse({ name: 'Reports', config }).config).toEqual(config)
    const faulty = { deliveryMethod: 1, fulfillmentType: null, validityPeriod: '30' }
    expect(faults(productCreateSchema, { name: 'Reports', config: faulty })).toEqual([
      'config.deliveryMethod',
      'config.fulfillmentType',
      'config.validityPeriod',
    ])
    for (const harmful of [
      '{"constructor":{}}',
      '{"deep":[[[[[[[[[]]]]]]]]]}',
      '{"a":"\\u0000"}',
    ]) {
      const body = { name: 'Reports', config: JSON.parse(harmful) as unknown }
      expect(faults(productCreateSchema, body)).toEqual(['config'])
    }
  })

  it('accept a plan without fields, and no plan with contradictions', () => {
    expect(faults(planCreateSchema, { productRef: 'prd_A' })).toEqual([])
    expect(faults(planCreateSchema, { type: 'whatever', creditsPerUnit: 0 })).toEqual([])
    expect(
      faults(planCreateSchema, { name: '', price: 9.99, limit: -1, currency: 'dollar' }),
    ).toEqual(['name', 'price', 'currency', 'limit'])
  })
})

describe('query strings', () => {
  it('clamp pages to their bounds instead of refusing them', () => {
    const page = (query: object) => clampPage(productsQuerySchema.parse(query))
    expect(page({})).toEqual({ limit: 50, offset: 0 })
    expect(page({ limit: '0', offset: '-5' })).toEqual({ limit: 1, offset: 0 })
    expect(page({ limit: '5000', offset: '7' })).toEqual({ limit: 100, offset: 7 })
    const beyondIntegers = { limit: '99999999999999999999', offset: '1e300' }
    expect(page(beyondIntegers)).toEqual({ limit: 100, offset: 10_000_000 })
    expect(page({ limit: '2.9' })).toEqual({ limit: 2, offset: 0 })
    expect(faults(productsQuerySchema, { limit: 'ten' })).toEqual(['limit'])
  })

  it('include free purchases by default', () => {
    expect(purchasesQuerySchema.parse({})).toEqual({ includeFree: 'true' })
    expect(faults(purchasesQuerySchema, { status: 'gone' })).toEqual(['status'])
  })

  it('accept dates and instants as the range of usage', () => {
    const range = { from: '2025-01-01', to: '2025-01-31T12:00:00Z' }
    expect(faults(meterUsageQuerySchema, range)).toEqual([])
    expect(faults(meterUsageQuerySchema, { from: 'yesterday' })).toEqual(['from', 'to'])
  })
})
