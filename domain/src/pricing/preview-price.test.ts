import type { Charge } from '@tollgate/schemas/http/charges'
import { describe, expect, it } from 'vitest'
import type { PlanCore } from '../plans/plan.ts'
import { previewPrice, previewTotal } from './preview-price.ts'

const dollars = { currency: 'USD', unitsPerDollar: '1' }

function plan(terms: PlanCore['terms'], type: PlanCore['type'] = 'usage-based'): PlanCore {
  return { type, priceMinor: 0, basePriceMinor: null, terms }
}

/** The example of docs/plans.md. */
const studio: Charge[] = [
  {
    key: 'tokens',
    meter: 'tokens',
    model: 'graduated',
    included: 100_000,
    tiers: [
      { upTo: 1_000_000, price: '0.0003' },
      { upTo: null, price: '0.0002' },
    ],
    per: 'period',
  },
  {
    key: 'images',
    meter: 'images',
    model: 'matrix',
    price: '4',
    rows: [{ when: { model: 'large' }, price: '8' }],
    per: 'period',
  },
]

const march = [
  { meter: 'tokens', units: 1_600_000 },
  { meter: 'images', units: 20, dimensions: { model: 'large' } },
  { meter: 'images', units: 5 },
]

describe('previewPrice', () => {
  it('prices the worked example of the documentation', () => {
    const preview = previewPrice(
      plan({ billingModel: 'post-paid', charges: studio }),
      march,
      dollars,
    )
    expect(preview.lines).toMatchObject([
      {
        key: 'tokens',
        usedMicros: 1_600_000_000_000n,
        prices: [
          { micros: 1_000_000_000_000n, price: '0.0003' },
          { micros: 500_000_000_000n, price: '0.0002' },
        ],
        amountMinor: 400n,
      },
      { key: 'images', amountMinor: 180n },
    ])
    expect(preview.unpriced).toEqual([])
    expect(previewTotal(preview)).toBe(580n)
  })

  it('counts only records of the filter, and names usage that no charge prices', () => {
    const charges: Charge[] = [
      {
        meter: 'tokens',
        where: { model: ['a'] },
        model: 'per_unit',
        price: '2',
        per: 'period',
      },
    ]
    const usage = [
      { meter: 'tokens', units: 3, dimensions: { model: 'a' } },
      { meter: 'tokens', units: 5, dimensions: { model: 'b' } },
      { meter: 'other', units: 7 },
    ]
    const preview = previewPrice(plan({ billingModel: 'post-paid', charges }), usage, dollars)
    expect(preview.lines).toMatchObject([
      { key: 'tokens', usedMicros: 3_000_000n, amountMinor: 6n },
    ])
    expect(preview.unpriced).toEqual(usage.slice(1))
  })

  it.each([
    ['a post-paid plan without charges', { billingModel: 'post-paid', creditsPerUnit: 50 }],
    ['a pre-paid plan without charges', { creditsPerUnit: 50 }],
    [
      'credits of a pre-paid plan',
      { charges: [{ meter: 'requests', model: 'per_unit', creditsPerUnit: '50', per: 'period' }] },
    ],
  ] as const)('prices %s', (_, terms) => {
    const preview = previewPrice(plan(terms), [{ meter: 'requests', units: 30 }], dollars)
    expect(preview.lines).toMatchObject([{ pricedIn: 'credits', amountMinor: 15n }])
  })

  it('prices nothing on a plan that only caps usage', () => {
    const charges: Charge[] = [{ meter: 'tokens', model: 'per_unit', cap: 5, per: 'period' }]
    const preview = previewPrice(plan({ charges }, 'recurring'), march, dollars)
    expect(preview).toEqual({ lines: [], minimumMinor: 0n, unpriced: march })
  })

  it.each([
    [0, 500n, 500n],
    [400, 100n, 500n],
    [500, 0n, 500n],
    [501, 0n, 501n],
  ])('adds what %i units cost less than the minimum', (units, minimumMinor, totalMinor) => {
    const charges: Charge[] = [{ meter: 'tokens', model: 'per_unit', price: '1', per: 'period' }]
    const terms = { billingModel: 'post-paid', charges, minimumCommitment: 500 } as const
    const preview = previewPrice(plan(terms), [{ meter: 'tokens', units }], dollars)
    expect(preview.minimumMinor).toBe(minimumMinor)
    expect(previewTotal(preview)).toBe(totalMinor)
  })
})
