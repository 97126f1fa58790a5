import { planCreateSchema } from '@tollgate/schemas/http/plans'
import { describe, expect, it } from 'vitest'
import { draftPlan, revisePlan } from './draft-plan.ts'
import type { PlanContext } from './draft-plan.ts'

const sum = { status: 'active', aggregation: 'sum', dimensions: [] } as const
const context: PlanContext = {
  defaultCurrency: 'USD',
  requestsMeterRef: 'mtr_1',
  rates: new Map(),
  meters: new Map([
    ['tokens', { ...sum, dimensions: ['model', 'region'] }],
    ['calls', { ...sum, aggregation: 'count' }],
    ['images', sum],
    ['old', { ...sum, status: 'archived' }],
    ['peak', { ...sum, aggregation: 'max' }],
  ]),
}

type Input = Record<string, unknown>

const postPaid = { type: 'usage-based', billingModel: 'post-paid' }
const prePaid = { type: 'usage-based', billingModel: 'pre-paid' }
const perUnit = { meter: 'tokens', price: '0.0003' }
const capped = { meter: 'tokens', cap: 10 }
const inCredits = { meter: 'tokens', creditsPerUnit: '0.03' }
const tiers = [
  { upTo: 10, price: '2' },
  { upTo: null, price: '1', flatPrice: '5' },
]
const rows = [{ when: { model: 'a' }, price: '2' }]

function draft(input: Input, charges: readonly Input[]) {
  return draftPlan(planCreateSchema.parse({ ...input, charges }), context)
}

/** Returns the paths of the faults. */
function faults(input: Input, ...charges: readonly Input[]): string[] {
  const decision = draft(input, charges)
  if (decision.kind === 'accepted') return []
  return (decision.issues ?? []).map(({ path }) => path.join('.'))
}

describe('charges', () => {
  it.each<[string, Input, Input[]]>([
    [
      'two prices of a post-paid plan',
      postPaid,
      [perUnit, { meter: 'calls', creditsPerUnit: '1' }],
    ],
    [
      'tiers with included units and a cap',
      { type: 'hybrid', basePrice: 4_900 },
      [{ meter: 'tokens', model: 'graduated', tiers, included: 5, cap: 50 }],
    ],
    ['a package', postPaid, [{ ...perUnit, model: 'package', unitsPerPackage: 100 }]],
    ['a matrix', postPaid, [{ ...perUnit, model: 'matrix', rows }]],
    ['a filter by a declared dimension', postPaid, [{ ...perUnit, where: { model: ['a', 'b'] } }]],
    ['roll-over of included units', postPaid, [{ ...perUnit, included: 5, rollover: true }]],
    [
      'two filters of one meter',
      postPaid,
      [
        { ...perUnit, key: 'a', where: { model: ['a'] } },
        { ...perUnit, key: 'b', where: { model: ['b'] }, included: 3 },
      ],
    ],
    ['a cap without a price', postPaid, [capped, { ...perUnit, meter: 'calls' }]],
    ['credits of a pre-paid plan', prePaid, [inCredits, { ...inCredits, meter: 'calls' }]],
    [
      'a matrix of a pre-paid plan',
      prePaid,
      [{ ...inCredits, model: 'matrix', rows: [{ when: { model: 'a' }, creditsPerUnit: '0' }] }],
    ],
    ['caps of a recurring plan', { price: 500 }, [capped]],
    [
      'replaced fields of 0',
      { ...postPaid, limit: 0, creditsPerUnit: 0, usageTiers: [] },
      [perUnit],
    ],
    [
      'credits and several currencies',
      {
        ...postPaid,
        pricingOptions: [
          { currency: 'usd', price: 0 },
          { currency: 'eur', price: 0 },
        ],
      },
      [inCredits],
    ],
  ])('accept %s', (_, input, charges) => {
    expect(faults(input, ...charges)).toEqual([])
  })

  it.each<[string, Input, Input[], string[]]>([
    ['an unknown meter', postPaid, [{ ...perUnit, meter: 'x' }], ['charges.0.meter']],
    ['an archived meter', postPaid, [{ ...perUnit, meter: 'old' }], ['charges.0.meter']],
    ['a meter of maxima', postPaid, [{ ...perUnit, meter: 'peak' }], ['charges.0.meter']],
    ['one key twice', postPaid, [perUnit, perUnit], ['charges.1.key']],
    [
      'two allowances of a meter',
      postPaid,
      [
        { ...perUnit, included: 3 },
        { ...capped, key: 'b' },
      ],
      ['charges.1.cap'],
    ],
    ['two prices', postPaid, [{ ...perUnit, creditsPerUnit: '1' }], ['charges.0.creditsPerUnit']],
    [
      'tiers in two units',
      postPaid,
      [
        {
          meter: 'tokens',
          model: 'volume',
          tiers: [tiers[0]!, { upTo: null, creditsPerUnit: '1' }],
        },
      ],
      ['charges.0.tiers.1.creditsPerUnit'],
    ],
    [
      'a tier without a price',
      postPaid,
      [{ meter: 'tokens', model: 'volume', tiers: [tiers[0]!, { upTo: null }] }],
      ['charges.0.tiers.1.price'],
    ],
    [
      'tiers that do not ascend',
      postPaid,
      [{ meter: 'tokens', model: 'volume', tiers: [tiers[0]!, ...tiers] }],
      ['charges.0.tiers.1.upTo'],
    ],
    [
      'a last tier with an end',
      postPaid,
      [{ meter: 'tokens', model: 'volume', tiers: [tiers[0]!] }],
      ['charges.0.tiers.0.upTo'],
    ],
    [
      'a flat price in credits',
      postPaid,
      [
        {
          meter: 'tokens',
          model: 'volume',
          tiers: [{ upTo: null, creditsPerUnit: '1', flatPrice: '1' }],
        },
      ],
      ['charges.0.tiers.0.flatPrice'],
    ],
    ['tiers of another model', postPaid, [{ ...perUnit, tiers }], ['charges.0.tiers']],
    [
      'a model without its field',
      postPaid,
      [{ ...perUnit, model: 'package' }],
      ['charges.0.unitsPerPackage'],
    ],
    [
      'a price beside tiers',
      postPaid,
      [{ ...perUnit, model: 'graduated', tiers }],
      ['charges.0.price'],
    ],
    [
      'a matrix without a default',
      postPaid,
      [{ meter: 'tokens', model: 'matrix', rows }],
      ['charges.0.price'],
    ],
    [
      'a matrix with included units and a cap',
      postPaid,
      [{ ...perUnit, model: 'matrix', rows, included: 1, cap: 5 }],
      ['charges.0.included', 'charges.0.cap'],
    ],
    [
      'a row that an earlier row covers',
      postPaid,
      [
        {
          ...perUnit,
          model: 'matrix',
          rows: [...rows, { when: { model: 'a', region: 'eu' }, price: '1' }],
        },
      ],
      ['charges.0.rows.1.when'],
    ],
    [
      'dimensions that the meter does not declare',
      postPaid,
      [{ ...perUnit, where: { size: ['xl'] } }],
      ['charges.0.where.size'],
    ],
    [
      'empty filters and values',
      postPaid,
      [
        { ...perUnit, where: {} },
        { ...perUnit, key: 'b', where: { model: [''] } },
      ],
      ['charges.0.where', 'charges.1.where.model'],
    ],
    [
      'a cap with a filter',
      postPaid,
      [{ ...perUnit, where: { model: ['a'] }, cap: 5 }],
      ['charges.0.cap'],
    ],
    [
      'included units up to the cap',
      postPaid,
      [{ ...perUnit, included: 5, cap: 5 }],
      ['charges.0.cap'],
    ],
    [
      'included units without a price',
      postPaid,
      [{ meter: 'tokens', included: 5 }],
      ['charges.0.price'],
    ],
    ['no price at all', postPaid, [{ meter: 'tokens' }], ['charges.0.price']],
    ['roll-over of nothing', postPaid, [{ ...perUnit, rollover: true }], ['charges.0.rollover']],
    [
      'roll-over beside a cap',
      { price: 500 },
      [{ ...capped, rollover: true }],
      ['charges.0.rollover'],
    ],
    [
      'a filter of a meter without dimensions',
      postPaid,
      [{ ...perUnit, meter: 'images', where: { size: ['xl'] } }],
      ['charges.0.where.size'],
    ],
    ['money of a pre-paid plan', prePaid, [perUnit], ['charges.0.price']],
    [
      'included units of a pre-paid plan',
      prePaid,
      [{ ...inCredits, included: 5 }],
      ['charges.0.included'],
    ],
    [
      'packages of a pre-paid plan',
      prePaid,
      [{ ...inCredits, model: 'package', unitsPerPackage: 5 }],
      ['charges.0.model'],
    ],
    ['no price of a pre-paid plan', prePaid, [capped], ['charges.0.creditsPerUnit']],
    ['prices of a recurring plan', { price: 500 }, [{ ...perUnit, cap: 5 }], ['charges.0.price']],
    ['a charge without effect', { price: 500 }, [{ meter: 'tokens' }], ['charges.0.cap']],
    [
      'roll-over of a one-time plan',
      { type: 'one-time', price: 500 },
      [{ ...perUnit, included: 1, rollover: true }],
      ['charges.0.price', 'charges.0.included', 'charges.0.rollover'],
    ],
    [
      'money in several currencies',
      {
        ...postPaid,
        pricingOptions: [
          { currency: 'usd', price: 0 },
          { currency: 'eur', price: 0 },
        ],
      },
      [inCredits, { ...perUnit, meter: 'calls' }],
      ['charges.1.price'],
    ],
    [
      'fields that charges replace',
      {
        type: 'hybrid',
        basePrice: 4_900,
        creditsPerUnit: 1,
        freeUnits: 2,
        limit: 3,
        unitsPerPackage: 4,
        usageTierMode: 'volume',
        rolloverUnusedUnits: true,
        overagePolicy: { allowOverage: true },
      },
      [perUnit],
      [
        'creditsPerUnit',
        'usageTierMode',
        'freeUnits',
        'limit',
        'overagePolicy',
        'unitsPerPackage',
        'rolloverUnusedUnits',
      ],
    ],
  ])('refuse %s', (_, input, charges, paths) => {
    expect(faults(input, ...charges)).toEqual(paths)
  })

  it('are stored as given', () => {
    const decision = draft(postPaid, [perUnit])
    expect(decision).toMatchObject({
      kind: 'accepted',
      plan: { terms: { charges: [{ ...perUnit, model: 'per_unit', per: 'period' }] } },
    })
  })

  it('are checked again only if they or other prices change', () => {
    const decision = draft(postPaid, [perUnit])
    if (decision.kind === 'refused') throw new Error(decision.message)
    const archived = {
      ...context,
      meters: new Map([['tokens', { ...sum, status: 'archived' as const }]]),
    }
    expect(revisePlan(decision.plan, { name: 'Renamed' }, archived).kind).toBe('accepted')
    const charges = [{ ...decision.plan.terms.charges![0]!, price: '0.0004' }]
    expect(revisePlan(decision.plan, { charges }, archived)).toMatchObject({
      kind: 'refused',
      issues: [{ path: ['charges', 0, 'meter'] }],
    })
    expect(revisePlan(decision.plan, { creditsPerUnit: 5 }, context)).toMatchObject({
      kind: 'refused',
      issues: [{ path: ['creditsPerUnit'] }],
    })
  })
})
