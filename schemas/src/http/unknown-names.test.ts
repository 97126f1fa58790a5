import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { apiKeyRotateSchema } from './api-keys.ts'
import { hasOnlyKnownNames, knownNamesOf, type KnownNames } from './known-names.ts'
import { limitsRequestSchema } from './limits.ts'
import { productCreateSchema } from './products.ts'
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
  ])('%# in a body are named', (schema, value, expected) => {
    expect(warnings(schema, value)).toBe(expected)
  })

  it('accepts what any option of a choice accepts', () => {
    const choice = z.union([z.object({ a: z.int() }), z.object({ b: z.int() })])
    expect(warnings(choice, { b: 1 })).toBe('')
    expect(warnings(choice, { c: 1 })).toBe('unknown_field;name="c"')
  })

  it('stay few and short, and safe in a header, whatever the names', () => {
    const bodies = fc.array(fc.dictionary(fc.string({ maxLength: 200, unit: 'binary' }), fc.nat()))
    fc.assert(
      fc.property(bodies, (events) => {
        const names = findUnknownNames('field', known(usagesBulkSchema), { events })
        const text = warningsText(names)
        expect(names.length).toBeLessThanOrEqual(unknownNamesMax)
        expect(new Set(names.map(({ name }) => name)).size).toBe(names.length)
        expect(text).toMatch(/^[\x20-\x7e]{0,1000}$/)
        expect(names.length === 0).toBe(hasOnlyKnownNames(known(usagesBulkSchema), { events }))
      }),
    )
  })
})
