import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { bulkRecordsMax } from '../limits.ts'
import { apiKeyRotateSchema } from './api-keys.ts'
import { autoRechargeUpdateSchema } from './auto-recharge.ts'
import { hasOnlyKnownNames, knownNamesOf, type KnownNames } from './known-names.ts'
import { limitsRequestSchema } from './limits.ts'
import { paymentIntentCreateSchema } from './payment-intents.ts'
import { planCreateSchema, planUpdateSchema } from './plans.ts'
import { productCreateSchema, productUpdateSchema } from './products.ts'
import { findUnknownNames, unknownNamesMax, warningsText } from './unknown-names.ts'
import { usageSchema, usagesBulkSchema } from './usages.ts'

const known = (schema: z.ZodType): KnownNames => knownNamesOf(schema)!
const warnings = (schema: z.ZodType, value: unknown): string =>
  warningsText(findUnknownNames('field', known(schema), value))

describe('unknown names', () => {
  it.each<[z.ZodType, unknown, string]>([
    [usageSchema, { customerRef: 'u', metadata: { any: { thing: 1 } } }, ''],
    [usageSchema, { customer_ref: 'u' }, 'unknown_field;name="customer_ref";nearest="customerRef"'],
    [usageSchema, { unit: 1 }, 'unknown_field;name="unit";nearest="units"'],
    [usageSchema, { zzz: 1 }, 'unknown_field;name="zzz"'],
    [usageSchema, { toString: 1 }, 'unknown_field;name="toString"'],
    [usageSchema, JSON.parse('{"__proto__":1}'), 'unknown_field;name="__proto__"'],
    [usageSchema, [{ zzz: 1 }], ''],
    [usageSchema, null, ''],
    [
      limitsRequestSchema,
      { reserve: { units: 1, ttl_second: 2 } },
      'unknown_field;name="reserve.ttl_second";nearest="ttlSeconds"',
    ],
    [usagesBulkSchema, { events: [{}, { a: 1 }, { a: 2 }] }, 'unknown_field;name="events[].a"'],
    [productCreateSchema, { config: { own: 1 } }, ''],
    [apiKeyRotateSchema.nullish(), { overlap: 1 }, 'unknown_field;name="overlap"'],
    [
      usageSchema,
      { 'a\r\nb"\u{1F600}\ud800': 1 },
      'unknown_field;name="a%0D%0Ab%22%F0%9F%98%80%EF%BF%BD"',
    ],
  ])('%# in a body are reported', (schema, value, expected) => {
    expect(warnings(schema, value)).toBe(expected)
  })

  it.each<[z.ZodType, object]>([
    [limitsRequestSchema, { planRef: 'pln_1' }],
    [usageSchema, { planRef: 'pln_1' }],
    [usagesBulkSchema, { events: [{ planRef: 'pln_1' }] }],
    [productCreateSchema, { categories: [], capabilities: [{ any: 1 }] }],
    [productUpdateSchema, { categories: [], capabilities: {} }],
    [planCreateSchema, { productRef: 'prd_1', requiresPayment: true }],
    [planUpdateSchema, { productRef: 'prd_1', requiresPayment: true, type: 'recurring' }],
    [autoRechargeUpdateSchema, { maxRecharges: 1, rechargeCount: 0 }],
    [paymentIntentCreateSchema, { autoRecharge: { maxRecharges: 1, rechargeCount: 0 } }],
  ])(
    '%# are not reported if published clients send them although they have no effect',
    (schema, value) => {
      expect(warnings(schema, value)).toBe('')
      if (schema instanceof z.ZodObject && !('autoRecharge' in value || 'events' in value)) {
        expect(schema.partial().parse(value)).not.toHaveProperty(Object.keys(value)[0]!)
      }
    },
  )

  it('are those that no option of a union accepts', () => {
    const choice = z.union([z.object({ a: z.int() }), z.object({ b: z.int() })])
    expect(warnings(choice, { b: 1 })).toBe('')
    expect(warnings(choice, { c: 1 })).toBe('unknown_field;name="c"')
  })

  it('are reported for the union option with the fewest unknown names', () => {
    const choice = z.union([z.string(), z.object({ a: z.int() }), z.object({ b: z.int() })])
    expect(warnings(choice, { b: 1, c: 1 })).toBe('unknown_field;name="c"')
    expect(knownNamesOf(z.union([z.object({ a: z.int() }), z.record(z.string(), z.int())]))).toBe(
      undefined,
    )
  })

  it('are searched in as many items as a list may have', () => {
    const items: object[] = Array.from({ length: bulkRecordsMax }, () => ({}))
    expect(warnings(usagesBulkSchema, { events: [...items, { zz: 1 }] })).toBe('')
    expect(warnings(usagesBulkSchema, { events: [{ a: 1 }, ...items, { zz: 1 }] })).toBe(
      'unknown_field;name="events[].a"',
    )
  })

  it('are cut between two characters', () => {
    const text = warnings(usageSchema, { ['\u{1F600}'.repeat(30)]: 1 })
    const [, name = ''] = /name="([^"]*)"/.exec(text)!
    expect(decodeURIComponent(name)).toBe('\u{1F600}'.repeat(10))
    expect(decodeURIComponent(warnings(usageSchema, { ['a' + 'é'.repeat(60)]: 1 }))).toContain('éé')
  })

  it('stay few, short and safe in a header, whatever the names', () => {
    const bodies = fc.array(fc.dictionary(fc.string({ maxLength: 200, unit: 'binary' }), fc.nat()))
    fc.assert(
      fc.property(bodies, (events) => {
        const names = findUnknownNames('field', known(usagesBulkSchema), { events })
        const text = warningsText(names)
        expect(names.length).toBeLessThanOrEqual(unknownNamesMax)
        expect(new Set(names.map(({ name }) => name)).size).toBe(names.length)
        expect(text).toMatch(/^[\x20-\x7e]{0,1000}$/)
        expect(() => decodeURIComponent(text)).not.toThrow()
        expect(names.length === 0).toBe(hasOnlyKnownNames(known(usagesBulkSchema), { events }))
      }),
    )
  })
})
