import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { planCreateSchema } from '@tollgate/schemas/http/plans'
import { draftPlan, revisePlan, type PlanDraft } from './draft-plan.ts'

const context = { defaultCurrency: 'USD', requestsMeterRef: 'mtr_1', rates: new Map() }
const decide = (input: object) => draftPlan(planCreateSchema.parse(input), context)
const faultsOf = (input: object): string[] => {
  const decision = decide(input)
  if (decision.kind === 'accepted') return []
  return (decision.issues ?? []).map(({ path }) => path.join('.'))
}

const tier = (minUsage: number, maxUsage: number | null, creditsPerUnit = 5) => {
  return { minUsage, maxUsage, creditsPerUnit }
}
const published = [tier(0, 500, 50), tier(501, 2_000, 30), { minUsage: 2_001, creditsPerUnit: 10 }]
const prePaid = { type: 'usage-based', billingModel: 'pre-paid' }
const postPaid = { type: 'usage-based', billingModel: 'post-paid' }
const hybrid = { type: 'hybrid', basePrice: 4_900, limit: 1_000 }
const overage = { allowOverage: true, overageRate: 80, maxOverage: 5_000 }
const byTiers = (...usageTiers: readonly object[]) => ({ ...postPaid, usageTiers })

describe('priceFaults, for valid prices', () => {
  it.each<[string, object]>([
    ['free', { price: 0 }],
    ['a price and a set-up fee', { price: 1_900, setupFee: 10 }],
    ['a set-up fee alone', { setupFee: 50 }],
    [
      'the documented example of a post-paid plan',
      { ...postPaid, creditsPerUnit: 100, freeUnits: 100, limit: 10_000 },
    ],
    ['example E', { ...hybrid, usageTiers: published, overagePolicy: overage }],
    ['examples F and G', { ...hybrid, overagePolicy: overage }],
    ['example H', { ...hybrid, freeUnits: 200, creditsPerUnit: 50 }],
    ['a base price under the name of price', { type: 'hybrid', price: 4_900 }],
    ['a base price under both names', { ...hybrid, price: 4_900 }],
    ['usage-based without price or amount', { ...prePaid, creditsPerUnit: 100 }],
    [
      'usage that costs nothing, as client tests send it',
      { ...prePaid, price: 0, creditsPerUnit: 0 },
    ],
    [
      'pre-paid free units, which are stored as 0',
      { ...prePaid, creditsPerUnit: 5, freeUnits: 9, limit: 3 },
    ],
    ['a price that buys the first credits', { ...prePaid, price: 500, creditsPerUnit: 5 }],
    ['tiers that touch', byTiers(tier(0, 10.5), tier(10.5, null))],
    ['tiers of whole units from 1', byTiers(tier(1, 10), tier(11, 20))],
    [
      'options in two currencies',
      {
        pricingOptions: [
          { currency: 'USD', price: 50 },
          { currency: 'GBP', price: 30 },
        ],
      },
    ],
  ])('accepts %s', (_, input) => {
    expect(decide(input)).toMatchObject({ kind: 'accepted' })
  })
})

describe('priceFaults, for invalid prices', () => {
  const both = ['creditsPerUnit', 'usageTiers']
  it.each<[string, object, string[]]>([
    ['pre-paid tiers without creditsPerUnit', { ...prePaid, usageTiers: [tier(0, null)] }, both],
    [
      'tiers and creditsPerUnit, pre-paid',
      { ...prePaid, creditsPerUnit: 5, usageTiers: [tier(0, null)] },
      both,
    ],
    [
      'tiers and creditsPerUnit, post-paid',
      { ...postPaid, creditsPerUnit: 5, usageTiers: [tier(0, null)] },
      both,
    ],
    ['a pre-paid price that buys nothing', { ...prePaid, price: 500 }, ['price', 'creditsPerUnit']],
    ['a post-paid price', { ...postPaid, price: 500, creditsPerUnit: 5 }, ['price']],
    [
      'a price in one option of a post-paid plan',
      {
        ...postPaid,
        pricingOptions: [
          { currency: 'USD', price: 0 },
          { currency: 'EUR', price: 500 },
        ],
      },
      ['pricingOptions.1.price'],
    ],
    ['a set-up fee of usage', { ...prePaid, creditsPerUnit: 5, setupFee: 500 }, ['setupFee']],
    ['a base price of a plan that is not hybrid', { price: 500, basePrice: 400 }, ['basePrice']],
    ['a hybrid price beside another base price', { ...hybrid, price: 500 }, ['price']],
    ['units of a recurring plan', { price: 500, creditsPerUnit: 5 }, ['creditsPerUnit']],
    [
      'tiers of a one-time plan',
      { type: 'one-time', price: 500, usageTiers: published },
      ['usageTiers'],
    ],
    [
      'a rate of overage without overage',
      { ...hybrid, overagePolicy: { overageRate: 5 } },
      ['overagePolicy.overageRate'],
    ],
    [
      'a rate of overage and creditsPerUnit',
      { ...hybrid, creditsPerUnit: 5, overagePolicy: overage },
      ['creditsPerUnit', 'overagePolicy.overageRate'],
    ],
    [
      'free units up to the limit',
      { ...postPaid, creditsPerUnit: 5, freeUnits: 9, limit: 9 },
      ['limit', 'freeUnits'],
    ],
    ['tiers that overlap', byTiers(tier(0, 10), tier(5, null)), ['usageTiers.1.minUsage']],
    ['tiers with a gap', byTiers(tier(0, 10), tier(12, null)), ['usageTiers.1.minUsage']],
    [
      'tiers in no order',
      byTiers(tier(11, null), tier(0, 10)),
      ['usageTiers.0.maxUsage', 'usageTiers.0.minUsage'],
    ],
    ['a first tier that leaves units out', byTiers(tier(2, null)), ['usageTiers.0.minUsage']],
    [
      'an open tier before another',
      byTiers(tier(0, null), tier(10, null)),
      ['usageTiers.0.maxUsage'],
    ],
    [
      'a tier that ends before it starts',
      byTiers(tier(0, 10), tier(11, 10)),
      ['usageTiers.1.maxUsage'],
    ],
    ['a price below the minimum', { price: 49 }, ['price']],
    [
      'a base price below the minimum',
      { ...hybrid, basePrice: 49, creditsPerUnit: 1 },
      ['basePrice'],
    ],
    ['a set-up fee alone below the minimum', { setupFee: 49 }, ['setupFee']],
    ['first credits below the minimum', { ...prePaid, creditsPerUnit: 5, price: 49 }, ['price']],
    [
      'an option below the minimum of its currency',
      {
        pricingOptions: [
          { currency: 'USD', price: 500 },
          { currency: 'SEK', price: 299 },
        ],
      },
      ['pricingOptions.1.price'],
    ],
    [
      'two options in one currency',
      {
        pricingOptions: [
          { currency: 'USD', price: 500 },
          { currency: 'usd', price: 600 },
        ],
      },
      ['pricingOptions.1.currency'],
    ],
  ])('names the fields of %s', (_, input, paths) => {
    expect(faultsOf(input)).toEqual(paths)
  })
})

describe('a plan that is older than these rules', () => {
  const accepted = decide({ ...prePaid, creditsPerUnit: 5 })
  if (accepted.kind !== 'accepted') throw new Error('It was not accepted')
  const { plan } = accepted
  const old: PlanDraft = { ...plan, terms: { ...plan.terms, usageTiers: [tier(0, null)] } }

  it('can be renamed and archived', () => {
    const change = { name: 'New', status: 'archived', hidden: true } as const
    expect(revisePlan(old, change, context)).toMatchObject({ kind: 'accepted', plan: change })
  })

  it('accepts new prices only if all its prices follow the rules', () => {
    const issues = [{ path: ['creditsPerUnit'] }, { path: ['usageTiers'] }]
    expect(revisePlan(old, { creditsPerUnit: 6 }, context)).toMatchObject({
      kind: 'refused',
      issues,
    })
    const sound = { usageTiers: [] }
    expect(revisePlan(old, sound, context)).toMatchObject({ kind: 'accepted' })
    expect(revisePlan(plan, { price: 20 }, context)).toMatchObject({ kind: 'refused' })
  })
})

const maybe = <Value>(...values: Value[]) =>
  fc.option(fc.constantFrom(...values), { nil: undefined })
const inputs = fc.record({
  type: fc.constantFrom('recurring', 'one-time', 'usage-based', 'hybrid'),
  billingModel: maybe('pre-paid', 'post-paid'),
  price: maybe(0, 40, 500),
  basePrice: maybe(0, 40, 500),
  setupFee: maybe(0, 40, 500),
  creditsPerUnit: maybe(0, 3),
  limit: maybe(0, 6, 12),
  freeUnits: maybe(0, 4, 12),
  usageTierMode: maybe('graduated', 'volume'),
  usageTiers: maybe(
    [],
    [tier(0, null, 2)],
    [tier(0, 5, 0), tier(5, 9, 2), tier(10, null, 0)],
    [tier(0, 20, 0), tier(21, null, 2)],
    [tier(0, 5, 2), tier(3, null, 1)],
  ),
  overagePolicy: fc.option(
    fc.record({
      allowOverage: maybe(true, false),
      overageRate: maybe(0, 2),
      maxOverage: maybe(0, 3),
    }),
    { nil: undefined },
  ),
})

/**
 * Returns the price fields that charge something for this many units, computed unit by unit with the formulas of the
 * API contract.
 */
function chargedFields({ type, terms, ...plan }: PlanDraft, used: number): string[] {
  const { creditsPerUnit = 0, freeUnits: free = 0, limit = 0, usageTiers = [] } = terms
  const positive = (fields: Record<string, number | null>): string[] =>
    Object.keys(fields).filter((field) => (fields[field] ?? 0) > 0)
  const { priceMinor: price, basePriceMinor: basePrice, setupFeeMinor: setupFee } = plan
  if (type === 'recurring' || type === 'one-time') return positive({ price, setupFee })
  if (type === 'usage-based' && terms.billingModel !== 'post-paid') {
    const unit = used > 0 ? creditsPerUnit : 0
    return creditsPerUnit > 0 ? positive({ price, creditsPerUnit: unit }) : []
  }
  const base = basePrice ?? price
  const isBase = (amount: number | null) => (amount === base ? amount : 0)
  const fixed = { price: isBase(price), basePrice: isBase(basePrice), setupFee }
  const { allowOverage = false, overageRate, maxOverage = 0 } = terms.overagePolicy ?? {}
  const isOver = type === 'hybrid' && allowOverage
  const cap = isOver ? (maxOverage > 0 ? limit + free + maxOverage : Infinity) : limit || Infinity
  const billable = Math.max(0, Math.min(used, cap) - free - (isOver ? limit : 0))
  const rateAt = (unit: number): number =>
    (usageTiers.find(({ maxUsage }) => unit <= (maxUsage ?? Infinity)) ?? usageTiers.at(-1))!
      .creditsPerUnit
  const tiered = (): number => {
    if (terms.usageTierMode === 'volume') return billable === 0 ? 0 : rateAt(billable)
    return Array.from({ length: billable }, (_, at) => rateAt(at + 1)).reduce(
      (sum, rate) => sum + rate,
      0,
    )
  }
  const flat = isOver && overageRate !== undefined ? 'overageRate' : 'creditsPerUnit'
  const rate = flat === 'overageRate' ? (overageRate ?? 0) : creditsPerUnit
  const usage = usageTiers.length > 0 ? { usageTiers: tiered() } : { [flat]: billable * rate }
  return positive({ ...(type === 'hybrid' ? fixed : {}), ...usage })
}

function namedFields({ terms, ...plan }: PlanDraft): string[] {
  const { creditsPerUnit = 0, usageTiers = [], overagePolicy } = terms
  const tierRates = usageTiers.reduce((sum, each) => sum + each.creditsPerUnit, 0)
  const amounts = {
    price: plan.priceMinor,
    basePrice: plan.basePriceMinor ?? 0,
    setupFee: plan.setupFeeMinor ?? 0,
    creditsPerUnit,
    usageTiers: tierRates,
    // Published plans contain `overageRate` beside the tiers, which take precedence.
    overageRate:
      usageTiers.length > 0 && overagePolicy?.allowOverage === true
        ? 0
        : (overagePolicy?.overageRate ?? 0),
  }
  return Object.entries(amounts).flatMap(([field, amount]) => (amount > 0 ? [field] : []))
}

it('accepts no plan with a price that it never charges', () => {
  let accepted = 0
  fc.assert(
    fc.property(inputs, (input) => {
      const decision = decide(input)
      if (decision.kind === 'refused') return
      accepted += 1
      const charged = new Set<string>()
      for (let used = 0; used <= 60; used += 1) {
        for (const field of chargedFields(decision.plan, used)) charged.add(field)
      }
      for (const field of namedFields(decision.plan)) expect([...charged]).toContain(field)
    }),
    { numRuns: 5_000 },
  )
  expect(accepted).toBeGreaterThan(100)
})
