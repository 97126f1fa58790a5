import type { ModelCycle } from './calendar.ts'
import type { UsagePrices } from './prices.ts'

/** A plan in the terms of the model. Amounts are minor units of the seller's currency. */
export type ModelPlan = {
  readonly name: string
  readonly type: 'recurring' | 'usage-based' | 'hybrid' | 'one-time'
  readonly cycle?: ModelCycle
  readonly price: number
  readonly setupFee?: number
  readonly trialDays?: number
  readonly accessDays?: number
  readonly autoRenew?: false
  /** How a change to this plan within a period is charged. Default: `proportional`. */
  readonly proration?: 'proportional' | 'full'
  /** Units that a free plan allows in a period. */
  readonly cap?: number
  /** Prices of usage that is paid after the period. */
  readonly usage?: UsagePrices
  readonly strategy?: 'recurring_first' | 'usage_first' | 'combined'
  /** Credits per unit, paid from the wallet. */
  readonly creditsPerUnit?: number
}

const monthly = { cycle: 'monthly' } as const
const weekly = { cycle: 'weekly' } as const

/** The products. A customer has one plan of each product at a time. */
export const products: Readonly<Record<string, readonly ModelPlan[]>> = {
  Access: [
    { name: 'Free', type: 'recurring', cycle: monthly, price: 0, cap: 500 },
    { name: 'Free by week', type: 'recurring', cycle: weekly, price: 0 },
    { name: 'Month', type: 'recurring', cycle: monthly, price: 1_900, setupFee: 500 },
    { name: 'Week', type: 'recurring', cycle: weekly, price: 700 },
    { name: 'Quarter', type: 'recurring', cycle: { cycle: 'quarterly' }, price: 5_000 },
    { name: 'Year', type: 'recurring', cycle: { cycle: 'yearly' }, price: 19_000 },
    { name: 'Ten days', type: 'recurring', cycle: { cycle: 'custom', days: 10 }, price: 450 },
    {
      name: 'Try 14',
      type: 'recurring',
      cycle: monthly,
      price: 2_900,
      setupFee: 300,
      trialDays: 14,
    },
    { name: 'Try 30', type: 'recurring', cycle: weekly, price: 900, trialDays: 30 },
    { name: 'One month', type: 'recurring', cycle: monthly, price: 990, autoRenew: false },
    { name: 'Pass', type: 'one-time', price: 4_900, accessDays: 30 },
    { name: 'For good', type: 'one-time', price: 9_900, setupFee: 100 },
  ],
  // Changes between plans that include units are tested in `deploy/test/sequences`. Here a change starts a new period.
  Metered: [
    {
      name: 'Afterwards',
      type: 'usage-based',
      cycle: monthly,
      price: 0,
      usage: { limit: 10_000, freeUnits: 100, rate: 7 },
    },
    {
      name: 'Afterwards by week',
      type: 'usage-based',
      cycle: weekly,
      price: 0,
      usage: { rate: 3 },
    },
    {
      name: 'Tiers',
      type: 'hybrid',
      proration: 'full',
      cycle: monthly,
      price: 4_900,
      strategy: 'recurring_first',
      usage: {
        limit: 1_000,
        rate: 0,
        overage: { rate: 0 },
        tiers: [
          { from: 0, to: 500, rate: 50 },
          { from: 501, to: 2_000, rate: 30 },
          { from: 2_001, rate: 10 },
        ],
      },
    },
    {
      name: 'Overage',
      type: 'hybrid',
      proration: 'full',
      cycle: monthly,
      price: 2_900,
      setupFee: 250,
      strategy: 'usage_first',
      usage: { limit: 1_000, rate: 0, overage: { rate: 81, most: 5_000 } },
    },
    {
      name: 'Together',
      type: 'hybrid',
      proration: 'full',
      cycle: monthly,
      price: 1_900,
      strategy: 'combined',
      usage: { limit: 1_000, freeUnits: 200, rate: 53 },
    },
    {
      name: 'Packages',
      type: 'usage-based',
      cycle: weekly,
      price: 0,
      usage: { freeUnits: 50, rate: 4, package: 250 },
    },
    {
      name: 'Volume',
      type: 'hybrid',
      proration: 'full',
      cycle: weekly,
      price: 700,
      strategy: 'usage_first',
      usage: {
        freeUnits: 10,
        rate: 0,
        byVolume: true,
        tiers: [
          { from: 0, to: 1_000, rate: 20 },
          { from: 1_001, to: 4_000, rate: 15 },
          { from: 4_001, rate: 9 },
        ],
      },
    },
    {
      name: 'Left over',
      type: 'usage-based',
      cycle: { cycle: 'custom', days: 10 },
      price: 0,
      usage: { limit: 3_000, freeUnits: 20, rate: 11, rollsOver: true },
    },
    {
      name: 'Left over with base',
      type: 'hybrid',
      proration: 'full',
      cycle: monthly,
      price: 1_500,
      strategy: 'combined',
      usage: { limit: 2_000, rate: 0, overage: { rate: 33 }, rollsOver: true },
    },
  ],
  Seats: [
    { name: 'Small', type: 'recurring', cycle: monthly, price: 1_900, proration: 'proportional' },
    {
      name: 'Middle',
      type: 'recurring',
      cycle: monthly,
      price: 4_900,
      setupFee: 300,
      proration: 'proportional',
    },
    { name: 'Large', type: 'recurring', cycle: monthly, price: 9_900, proration: 'full' },
  ],
  Wallet: [{ name: 'By use', type: 'usage-based', price: 0, creditsPerUnit: 7 }],
}

/** Returns the request body with which a provider's backend creates the plan. */
export function planBody(plan: ModelPlan): Record<string, unknown> {
  const { usage, cycle, creditsPerUnit } = plan
  return {
    name: plan.name,
    type: plan.type,
    price: plan.price,
    ...(plan.type === 'hybrid' ? { basePrice: plan.price } : {}),
    ...(cycle && { billingCycle: cycle.cycle }),
    ...(cycle?.days && { billingCycleDays: cycle.days }),
    ...(plan.setupFee && { setupFee: plan.setupFee }),
    ...(plan.trialDays && { trialDays: plan.trialDays }),
    ...(plan.accessDays && { accessExpiryDays: plan.accessDays }),
    ...(plan.autoRenew === false && { autoRenew: false }),
    ...(plan.cap && { limit: plan.cap }),
    ...(plan.proration && { prorationPolicy: plan.proration }),
    ...(plan.strategy && { billingStrategy: plan.strategy }),
    ...(creditsPerUnit && { billingModel: 'pre-paid', creditsPerUnit }),
    ...(usage && usageBody(plan.type, usage)),
  }
}

function usageBody(type: ModelPlan['type'], usage: UsagePrices): Record<string, unknown> {
  const { limit, freeUnits, rate, overage, tiers, byVolume, package: size, rollsOver } = usage
  return {
    ...(type === 'usage-based' ? { billingModel: 'post-paid' } : {}),
    creditsPerUnit: rate,
    ...(limit && { limit }),
    ...(freeUnits && { freeUnits }),
    ...(byVolume && { usageTierMode: 'volume' }),
    ...(size && { unitsPerPackage: size }),
    ...(rollsOver && { rolloverUnusedUnits: true }),
    ...(overage && {
      overagePolicy: {
        allowOverage: true,
        overageRate: overage.rate,
        ...(overage.most && { maxOverage: overage.most }),
      },
    }),
    ...(tiers && {
      usageTiers: tiers.map(({ from, to, rate: creditsPerTierUnit }) => ({
        minUsage: from,
        ...(to && { maxUsage: to }),
        creditsPerUnit: creditsPerTierUnit,
      })),
    }),
  }
}
