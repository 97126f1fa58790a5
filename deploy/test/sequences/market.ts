import { addExtras, openShopWith, type Extras, type ShopOf } from '../money/shop.ts'
import type { Stores } from '../money/stores.ts'

const monthly = { type: 'recurring', billingCycle: 'monthly' } as const
const perUnit = { type: 'usage-based', billingModel: 'post-paid', billingCycle: 'monthly' } as const

/** Prices in US cents, limits in units per month. */
export const plans = {
  free: { ...monthly, price: 0, limit: 10, default: true },
  silver: { ...monthly, price: 1_900, limit: 100, prorationPolicy: 'proportional' },
  gold: { ...monthly, price: 4_900, limit: 300, prorationPolicy: 'proportional' },
  /** A change to this plan starts a new period at its full price. */
  restart: { ...monthly, price: 2_400, limit: 150, setupFee: 500, prorationPolicy: 'full' },
  /** A change to this plan takes effect with the next period. */
  later: { ...monthly, price: 3_400, limit: 200, prorationPolicy: 'none' },
  trial: { ...monthly, price: 2_900, limit: 120, setupFee: 700, trialDays: 14 },
  /** 1 cent for each unit after the first 100, or 2 cents after the first 80. The cheap plan is billed at each half dollar. */
  cheap: { ...perUnit, creditsPerUnit: 100, freeUnits: 100, billAtUnbilledMinor: 50 },
  dear: { ...perUnit, creditsPerUnit: 200, freeUnits: 80 },
  /** A base price, and 1 cent for each of at most 350 units after the first 50. */
  hybrid: {
    type: 'hybrid',
    billingCycle: 'monthly',
    basePrice: 900,
    creditsPerUnit: 100,
    limit: 400,
    freeUnits: 50,
    billAtUnbilledMinor: 50,
    prorationPolicy: 'proportional',
  },
  /** 1 cent per unit, and 7 dollars per month at least. */
  committed: { ...perUnit, creditsPerUnit: 100, minimumCommitment: 700 },
  /** 1 cent per unit, paid from the wallet. */
  wallet: { type: 'usage-based', billingModel: 'pre-paid', creditsPerUnit: 100 },
} as const

/** Prices that the provider agrees with single customers, in US cents. They leave the order of the plans by price as it is. */
export const agreedPrices = { silver: 1_500, gold: 4_000, hybrid: 700 } as const

export type AgreedPlanName = keyof typeof agreedPrices

export type PlanName = keyof typeof plans
export const planNames = Object.keys(plans) as readonly PlanName[]

export type Market = ShopOf<PlanName> & Extras

/** Opens a provider that collects no tax, so that a payment equals the price. */
export async function openMarket(stores: Stores): Promise<Market> {
  const shop = await openShopWith(stores, plans, { supportEmail: 'help@acme.example' })
  const { silver, gold, restart, later, trial, hybrid } = shop.planRefs
  const supported = [silver, gold, restart, later, trial, hybrid]
  return { ...shop, ...(await addExtras(stores, shop, supported)) }
}

export function nameOf(market: Market, planRef: string | null): PlanName {
  const name = planNames.find((each) => market.planRefs[each] === planRef)
  if (name === undefined) throw new Error(`the market has no plan ${planRef}`)
  return name
}

/** Returns the price of a period that everybody pays in advance, in cents. */
export function listedPriceOf(name: PlanName): number {
  const terms = plans[name]
  if ('basePrice' in terms) return terms.basePrice
  return 'price' in terms ? terms.price : 0
}

/** Returns the units that one paid period of the plan allows, or undefined if they are unlimited. */
export function limitOf(name: PlanName): number | undefined {
  const plan = plans[name]
  return 'limit' in plan ? plan.limit : undefined
}
