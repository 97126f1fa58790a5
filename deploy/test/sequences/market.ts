import { createCoupon } from '@tollgate/domain/coupons/manage-coupons'
import type { CouponTerms } from '@tollgate/domain/coupons/coupon'
import { runUnitOfWork } from '@tollgate/domain/unit-of-work/run-unit-of-work'
import { openShopWith, operationIn, type ShopOf } from '../money/shop.ts'
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

export type PlanName = keyof typeof plans
export const planNames = Object.keys(plans) as readonly PlanName[]

const anyPlan = {
  code: null,
  amountOffMinor: null,
  currency: null,
  productRefs: [],
  planRefs: [],
  redemptionsMax: null,
  redemptionsPerCustomerMax: null,
  redeemBy: null,
} as const

/** Discounts by a percentage, or by an amount in US cents. */
export const coupons = {
  'a fifth': { ...anyPlan, percentOff: '20', duration: 'forever', durationInvoices: null },
  /** Two invoices of a customer who has not redeemed it before. */
  'a half': {
    ...anyPlan,
    percentOff: '50',
    duration: 'repeating',
    durationInvoices: 2,
    redemptionsPerCustomerMax: 1,
  },
  'all of it': {
    ...anyPlan,
    percentOff: '100',
    duration: 'once',
    durationInvoices: 1,
    redemptionsPerCustomerMax: 1,
  },
  '5 dollars': {
    ...anyPlan,
    percentOff: null,
    amountOffMinor: 500n,
    currency: 'USD',
    duration: 'once',
    durationInvoices: 1,
  },
} as const satisfies Record<string, Omit<CouponTerms, 'name'>>

export type CouponName = keyof typeof coupons
export const couponNames = Object.keys(coupons) as readonly CouponName[]

export type Market = ShopOf<PlanName> & {
  readonly couponRefs: Readonly<Record<CouponName, string>>
}

/** Opens a provider that collects no tax, so that a payment equals the price. */
export async function openMarket(stores: Stores): Promise<Market> {
  const shop = await openShopWith(stores, plans, { supportEmail: 'help@acme.example' })
  const operation = operationIn(shop.providerId, new Date(stores.clock.now()))
  const { result } = await runUnitOfWork(stores.postgres.database, operation, async (work) => {
    const refs: Partial<Record<CouponName, string>> = {}
    for (const name of couponNames) {
      const coupon = await createCoupon(work, { ...coupons[name], name })
      refs[name] = coupon!.reference
    }
    return refs as Market['couponRefs']
  })
  return { ...shop, couponRefs: result }
}

export function nameOf(market: Market, planRef: string | null): PlanName {
  const name = planNames.find((each) => market.planRefs[each] === planRef)
  if (name === undefined) throw new Error(`the market has no plan ${planRef}`)
  return name
}

/** Returns the units that one paid period of the plan allows, or undefined if they are unlimited. */
export function limitOf(name: PlanName): number | undefined {
  const plan = plans[name]
  return 'limit' in plan ? plan.limit : undefined
}
