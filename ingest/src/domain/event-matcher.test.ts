import type { FilterValue, MeterReading } from '@tollgate/schemas/meter-reading'
import type { PublishedMeter } from '@tollgate/schemas/hot-state/documents'
import type { JsonObject } from '@tollgate/schemas/json-object'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EventMatcher, type Matched } from './event-matcher.ts'
import { isIssue } from './event-values.ts'

function reading(fields: Partial<MeterReading>): MeterReading {
  return { aggregation: 'sum', type: 'llm.call', where: {}, value: [], dimensions: [], ...fields }
}

function published(
  reads: MeterReading,
  status: PublishedMeter['status'] = 'active',
): PublishedMeter {
  return { reference: 'mtr_1', status, reads }
}

function match(reads: Partial<MeterReading>, properties: JsonObject, value = 7_000_000) {
  const matcher = new EventMatcher({ meters: { tokens: published(reading(reads)) } })
  return matcher.match({ type: 'llm.call', value, timestamp: 0, properties })
}

function countsOf(result: ReturnType<typeof match>) {
  if (isIssue(result)) throw new Error(result.message)
  return result.counts
}

const counted = (value: number, text: string | null = null) => [
  { meterName: 'tokens', value, text },
]

describe('EventMatcher', () => {
  it('counts the value of the call if a meter has no pointer', () => {
    expect(countsOf(match({}, {}))).toEqual(counted(7_000_000))
  })

  it('counts 1 for a meter that counts events', () => {
    expect(countsOf(match({ aggregation: 'count' }, {}))).toEqual(counted(1_000_000))
  })

  it('adds the values of several pointers and skips missing and null ones', () => {
    const value = ['/usage/input', '/usage/output', '/usage/cached', '/lists/1']
    const properties = { usage: { input: 1.5, output: '2.000001', cached: null }, lists: [0, 4] }
    expect(countsOf(match({ value }, properties))).toEqual(counted(7_500_001))
  })

  it('does not count an event without any of the values', () => {
    const matched = match({ value: ['/a', '/b/c'], dimensions: ['model'] }, { b: null, model: 'x' })
    expect(matched).toEqual({ counts: [], dimensions: {} })
  })

  it('stores the text of a meter of distinct values', () => {
    const unique = { aggregation: 'unique', value: ['/user'] } as const
    expect(countsOf(match(unique, { user: 'ada' }))).toEqual(counted(1_000_000, 'ada'))
    expect(countsOf(match(unique, { user: 12.5 }))).toEqual(counted(1_000_000, '12.5'))
  })

  it('reads escaped names of pointers, and no inherited members', () => {
    const value = ['/a~1b/~0c']
    expect(countsOf(match({ value }, { 'a/b': { '~c': 2 } }))).toEqual(counted(2_000_000))
    expect(countsOf(match({ value: ['/toString/length'] }, {}))).toEqual([])
    expect(countsOf(match({ value: ['/list/length'] }, { list: [1] }))).toEqual([])
    expect(countsOf(match({ value: ['/list/01'] }, { list: [1, 2] }))).toEqual([])
  })

  it('compares filter values as JSON scalars', () => {
    const where = { model: ['a', 1, true] }
    for (const model of ['a', 1, true])
      expect(countsOf(match({ where }, { model }))).toHaveLength(1)
    for (const model of ['1', 'true', false, 2, null, ['a']])
      expect(countsOf(match({ where }, { model }))).toHaveLength(0)
  })

  it('stores dimensions as text under their names as written', () => {
    const dimensions = ['model', '/user/plan', '/user/isNew', 'gone', '/empty']
    const properties = { model: 4.5, user: { plan: 'pro', isNew: false }, gone: null, empty: '' }
    expect(match({ dimensions }, properties)).toMatchObject({
      dimensions: { model: '4.5', '/user/plan': 'pro', '/user/isNew': 'false', '/empty': '' },
    })
  })

  it.each([
    ['text', { value: ['/n'] }, { n: 'many' }],
    ['an exponent', { value: ['/n'] }, { n: '1e3' }],
    ['too many decimals in a number', { value: ['/n'] }, { n: 0.0000001 }],
    ['too many decimals in a text', { value: ['/n'] }, { n: '0.0000001' }],
    ['a number that is too large', { value: ['/n'] }, { n: 9_000_000_001 }],
    ['a text that is too large', { value: ['/n'] }, { n: '9000000000.000001' }],
    ['a sum that is too large', { value: ['/n', '/m'] }, { n: 9e9, m: '0.000001' }],
    ['a boolean', { value: ['/n'] }, { n: true }],
    ['an object', { value: ['/n'] }, { n: {} }],
    ['a boolean as a distinct value', { aggregation: 'unique', value: ['/n'] }, { n: true }],
    ['a long distinct value', { aggregation: 'unique', value: ['/n'] }, { n: 'x'.repeat(257) }],
    ['a long dimension', { dimensions: ['n'] }, { n: 'x'.repeat(257) }],
    ['an object as a dimension', { dimensions: ['n'] }, { n: {} }],
  ] as const)('refuses %s and names the meter and the property', (_, reads, properties) => {
    const issue = match(reads, properties)
    if (!isIssue(issue)) throw new Error('was accepted')
    expect(issue.message).toMatch(/^Meter tokens cannot use \/?[nm]: /)
    expect(['n', 'm']).toContain(issue.path[0])
  })

  it('ignores archived meters and meters that count calls', () => {
    const matcher = new EventMatcher({
      meters: {
        old: published(reading({}), 'archived'),
        calls: { reference: 'mtr_2', status: 'active' },
      },
    })
    expect(matcher.reads('llm.call')).toBe(false)
    expect(
      countsOf(matcher.match({ type: 'llm.call', value: 1, timestamp: 0, properties: {} })),
    ).toEqual([])
  })
})

/* The model reads definitions and events in the plainest way, with decimals as bigints. */

const names = ['a', 'b', '/a', '/b', '/a/b', '/b/0', '/a~1b'] as const
const scalar = fc.constantFrom<FilterValue>('x', '1', 'true', 1, 0, 2.5, true, false)
const quantityValue = fc.constantFrom<unknown>(0, 1, -2, 2.5, '3', '-0.5', '1.25', null)
const anyValue = fc.oneof(
  scalar,
  quantityValue,
  fc.constant('1e3'),
  fc.constant({ b: 1 }),
  fc.constant([7, 'y']),
)
const properties = fc.record(
  {
    a: fc.oneof(anyValue, fc.record({ b: anyValue })),
    b: fc.oneof(anyValue, fc.array(anyValue, { maxLength: 2 })),
    'a/b': anyValue,
  },
  { requiredKeys: [] },
)
const pointerName = fc.constantFrom(...names.filter((name) => name.startsWith('/')))
const definition: fc.Arbitrary<MeterReading> = fc
  .record({
    aggregation: fc.constantFrom('sum', 'count', 'max', 'unique', 'last'),
    type: fc.constantFrom('one', 'two'),
    where: fc.dictionary(
      fc.constantFrom(...names),
      fc.array(scalar, { minLength: 1, maxLength: 3 }),
      { maxKeys: 2 },
    ),
    value: fc.uniqueArray(pointerName, { maxLength: 3 }),
    dimensions: fc.uniqueArray(fc.constantFrom(...names), { maxLength: 3 }),
  })
  .map((each) =>
    each.aggregation === 'unique' ? { ...each, value: [each.value[0] ?? '/a'] } : each,
  )

function lookUp(object: unknown, name: string): unknown {
  const parts = name.startsWith('/') ? name.split('/').slice(1) : [name]
  return parts.reduce<unknown>((at, part) => {
    if (typeof at !== 'object' || at === null) return undefined
    return Object.entries(at).find(([key]) => key === part.replace(/~1/g, '/'))?.[1]
  }, object)
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null
}

/** Returns the expected result, or 'refused'. */
function expectedMatch(
  meters: Readonly<Record<string, MeterReading>>,
  event: { readonly type: string; readonly value: number; readonly properties: JsonObject },
): Matched | 'refused' {
  const counts: Matched['counts'][number][] = []
  const dimensions: Record<string, string> = {}
  for (const [
    meterName,
    { aggregation, type, where, value, dimensions: declared },
  ] of Object.entries(meters)) {
    if (type !== event.type) continue
    const isWanted = Object.entries(where).every(([name, values]) => {
      const found = lookUp(event.properties, name)
      return values.some((each) => JSON.stringify(each) === JSON.stringify(found))
    })
    if (!isWanted) continue
    const found = value
      .map((name) => lookUp(event.properties, name))
      .filter((each) => !isAbsent(each))
    if (aggregation !== 'count' && value.length > 0 && found.length === 0) continue
    if (aggregation === 'unique') {
      const [only] = found
      if (typeof only !== 'string' && typeof only !== 'number') return 'refused'
      counts.push({ meterName, value: 1_000_000, text: `${only}` })
    } else if (aggregation === 'count') {
      counts.push({ meterName, value: 1_000_000, text: null })
    } else if (value.length === 0) {
      counts.push({ meterName, value: event.value, text: null })
    } else {
      let sum = 0n
      for (const each of found) {
        if (typeof each !== 'number' && !(typeof each === 'string' && /^-?\d+(\.\d+)?$/.test(each)))
          return 'refused'
        const [whole, fraction = ''] = String(each).split('.')
        sum += BigInt(whole + fraction.padEnd(6, '0'))
      }
      counts.push({ meterName, value: Number(sum), text: null })
    }
    for (const name of declared) {
      const each = lookUp(event.properties, name)
      if (isAbsent(each)) continue
      if (typeof each === 'object') return 'refused'
      dimensions[name] = `${each as FilterValue}`
    }
  }
  return { counts, dimensions: counts.length === 0 ? {} : dimensions }
}

it('agrees with a plain model for any meters and events', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom('m1', 'm2', 'm3', 'm4'), definition),
      fc.record({
        type: fc.constantFrom('one', 'two', 'three'),
        value: fc.maxSafeNat(),
        properties,
      }),
      (meters, event) => {
        const matcher = new EventMatcher({
          meters: Object.fromEntries(
            Object.entries(meters).map(([name, reads]) => [name, published(reads)]),
          ),
        })
        const expected = expectedMatch(meters, event)
        const result = matcher.match({ ...event, timestamp: 0 })
        if (expected === 'refused') expect(isIssue(result)).toBe(true)
        else expect(result).toEqual(expected)
      },
    ),
    { numRuns: 3_000 },
  )
})
