import type { PlanCreateInput } from '@tollgate/schemas/http/plans'
import fc from 'fast-check'
import type { OraclePlan } from '../../../domain/test/pricing-oracle.ts'
import type { ModelCycle } from './usage-bill-model.ts'

/* Random customers: their plans, when they use how much, and when their usage is billed. */

const dayMs = 86_400_000

const units = fc.oneof(
  fc.nat(50).map(String),
  fc.nat(3_000).map(String),
  fc.nat(4_000_000).map((micros) => (micros / 1_000_000).toFixed(6)),
)
const some = units.filter((text) => Number(text) > 0)
const rate = fc.oneof(
  fc.nat(300).map(String),
  fc.nat(9_999).map((parts) => (parts / 100).toFixed(2)),
)
const tiers = fc.uniqueArray(some, { maxLength: 3, selector: Number }).chain((ends) =>
  fc.array(rate, { minLength: ends.length + 1, maxLength: ends.length + 1 }).map((rates) => {
    const borders = ends.toSorted((one, other) => Number(one) - Number(other))
    return rates.map((creditsPerUnit, at) => ({
      ...(borders[at] === undefined ? {} : { upTo: borders[at] }),
      creditsPerUnit,
    }))
  }),
)

export type CasePlan = {
  readonly priced: OraclePlan & { readonly rollsOver: boolean }
  readonly baseMinor: number
  readonly strategy: 'recurring_first' | 'usage_first' | 'combined'
}

export const plans: fc.Arbitrary<CasePlan> = fc
  .record({
    priced: fc.record(
      {
        type: fc.constantFrom('usage-based', 'hybrid'),
        limit: units,
        freeUnits: units,
        creditsPerUnit: rate,
        unitsPerPackage: some,
        tierMode: fc.constantFrom('graduated', 'volume'),
        tiers,
        overage: fc.record({ rate, max: units }, { requiredKeys: [] }),
        rollsOver: fc.boolean(),
      },
      { requiredKeys: ['type', 'creditsPerUnit', 'rollsOver'] },
    ),
    baseMinor: fc.constantFrom(0, 20, 4_900),
    strategy: fc.constantFrom('recurring_first', 'usage_first', 'combined'),
  })
  .map(({ priced, baseMinor, strategy }) => {
    const isHybrid = priced.type === 'hybrid'
    // Only hybrid plans have tiers, overage and a base price.
    const { tiers: _tiers, overage: _overage, tierMode: _mode, ...flat } = priced
    return {
      priced: isHybrid ? priced : flat,
      baseMinor: isHybrid ? baseMinor : 0,
      strategy,
    }
  })

export type Step =
  | {
      readonly kind: 'use'
      readonly micros: bigint
      readonly lateMs: number
      readonly isRepeated: boolean
    }
  | { readonly kind: 'run'; readonly flaw: 'none' | 'store' | 'before-charge' | 'after-charge' }
  | { readonly kind: 'switch' }

const waits = fc.oneof(fc.nat(3_600_000), fc.nat(3 * dayMs), fc.nat(25 * dayMs))
const uses: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant('use'),
  micros: fc.oneof(
    fc.integer({ min: 1, max: 2_000 }).map((whole) => BigInt(whole) * 1_000_000n),
    fc.integer({ min: 1, max: 5_000_000 }).map(BigInt),
  ),
  lateMs: fc.oneof(fc.constant(0), fc.nat(400_000), fc.nat(30 * dayMs)),
  isRepeated: fc.boolean(),
})
const runsOfJobs: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant('run'),
  flaw: fc.constantFrom('none', 'none', 'store', 'before-charge', 'after-charge'),
})
export const steps = fc.array(
  fc.tuple(
    waits,
    fc.oneof(
      { arbitrary: uses, weight: 6 },
      { arbitrary: runsOfJobs, weight: 3 },
      { arbitrary: fc.constant<Step>({ kind: 'switch' }), weight: 1 },
    ),
  ),
  { minLength: 4, maxLength: 16 },
)
export const cycles: fc.Arbitrary<ModelCycle> = fc.oneof(
  fc.constant<ModelCycle>({ kind: 'months' }),
  fc.integer({ min: 1, max: 20 }).map((days): ModelCycle => ({ kind: 'days', days })),
)

export function inputOf({ priced, baseMinor, strategy }: CasePlan, cycle: ModelCycle) {
  const number = (key: string, text: string | undefined) =>
    text === undefined ? {} : { [key]: Number(text) }
  const { overage, tiers: given = [] } = priced
  return {
    name: 'Metered',
    type: priced.type,
    ...(priced.type === 'hybrid' ? { basePrice: baseMinor } : { billingModel: 'post-paid' }),
    ...(cycle.kind === 'months'
      ? { billingCycle: 'monthly' }
      : { billingCycle: 'custom', billingCycleDays: cycle.days }),
    billingStrategy: strategy,
    rolloverUnusedUnits: priced.rollsOver,
    ...number('limit', priced.limit),
    ...number('freeUnits', priced.freeUnits),
    ...number('creditsPerUnit', priced.creditsPerUnit),
    ...number('unitsPerPackage', priced.unitsPerPackage),
    ...(priced.tierMode === undefined ? {} : { usageTierMode: priced.tierMode }),
    ...(given.length === 0
      ? {}
      : {
          usageTiers: given.map(({ upTo, creditsPerUnit }, at) => ({
            name: `Tier ${at}`,
            minUsage: Number(given[at - 1]?.upTo ?? 0),
            ...number('maxUsage', upTo),
            creditsPerUnit: Number(creditsPerUnit),
          })),
        }),
    ...(overage === undefined
      ? {}
      : {
          overagePolicy: {
            allowOverage: true,
            ...number('overageRate', overage.rate),
            ...number('maxOverage', overage.max),
          },
        }),
  } as Partial<PlanCreateInput>
}
