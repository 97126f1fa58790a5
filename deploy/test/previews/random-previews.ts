import type { CouponTerms } from '@tollgate/domain/coupons/coupon'
import type { TaxDetails } from '@tollgate/domain/tax/tax-details'
import type { PriceFields } from '@tollgate/schemas/http/agreed-prices'
import type { PlanCreateInput } from '@tollgate/schemas/http/plans'
import fc from 'fast-check'
import { inputOf, plans } from '../usage-billing/random-stories.ts'

/* Random plans, customers and moments at which invoices are previewed. */

const dayMs = 86_400_000

type PlanInput = Partial<PlanCreateInput>

/** Plans without charges: usage-based and hybrid, with limits, tiers, packages, overage and roll-over, in every billing strategy. */
const measured: fc.Arbitrary<PlanInput> = plans.map((plan) => inputOf(plan, { kind: 'months' }))

const price = fc.nat(9_999).map((parts) => (parts / 1_000).toFixed(3))
const included = fc.nat(500)

/** One charge on requests of each pricing model. */
const charge = fc.oneof(
  fc
    .record({ model: fc.constant('per_unit'), price, included, rollover: fc.boolean() })
    // Only included units are carried over.
    .map((each) => ({ ...each, rollover: each.rollover && each.included > 0 })),
  fc.record({
    model: fc.constantFrom('graduated', 'volume'),
    tiers: fc
      .tuple(fc.integer({ min: 1, max: 1_500 }), price, price, price)
      .map(([upTo, first, flatPrice, last]) => [
        { upTo, price: first, flatPrice },
        { upTo: null, price: last },
      ]),
    included,
  }),
  fc.record({
    model: fc.constant('package'),
    price,
    unitsPerPackage: fc.integer({ min: 1, max: 300 }),
    included,
  }),
)

const charged: fc.Arbitrary<PlanInput> = fc
  .record({
    charges: fc.array(charge, { minLength: 1, maxLength: 2 }),
    baseMinor: fc.constantFrom(0, 30, 2_900),
    strategy: fc.constantFrom('recurring_first', 'usage_first', 'combined'),
  })
  .map(({ charges, baseMinor, strategy }) => {
    // Only one charge of a meter can have included units.
    const keyed = charges.map((each, at) => ({
      ...{ ...each, meter: 'requests', key: `charge_${at}`, per: 'period' as const },
      ...(at === 0 ? {} : { included: 0, rollover: false }),
    }))
    const kind =
      baseMinor === 0
        ? { type: 'usage-based', billingModel: 'post-paid' }
        : { type: 'hybrid', basePrice: baseMinor, billingStrategy: strategy }
    return { ...kind, billingCycle: 'monthly', charges: keyed } as unknown as PlanInput
  })

const recurring: fc.Arbitrary<PlanInput> = fc
  .record({
    price: fc.constantFrom(0, 40, 1_900, 9_900),
    setupFee: fc.constantFrom(0, 500),
    notice: fc.constantFrom(0, 0, 20),
    limit: fc.constantFrom(0, 0, 1_000),
    policy: fc.constantFrom('proportional', 'proportional', 'none', 'full'),
  })
  .map(({ price: priceMinor, setupFee, notice, limit, policy }) => ({
    ...{ type: 'recurring', billingCycle: 'monthly', price: priceMinor },
    prorationPolicy: policy as 'none',
    ...(setupFee === 0 || priceMinor === 0 ? {} : { setupFee }),
    ...(notice === 0 || priceMinor === 0 ? {} : { cancellationNoticeDays: notice }),
    ...(limit === 0 ? {} : { limit }),
  }))

const taxBehavior = fc.constantFrom('auto', 'inclusive', 'exclusive')

/** Prices in place of those of a plan, by what the plan has a price for. */
export type DrawnPrices = {
  readonly price: number
  readonly setupFee: number
  readonly creditsPerUnit: number
  readonly chargePrice: string
  readonly minimum: number
}

const drawnPrices: fc.Arbitrary<DrawnPrices> = fc.record({
  price: fc.constantFrom(0, 900, 2_000, 12_000),
  setupFee: fc.constantFrom(0, 700),
  creditsPerUnit: fc.constantFrom(0, 40, 170.5),
  chargePrice: price,
  minimum: fc.constantFrom(0, 500, 1_500),
})

/** Returns the prices that fit the plan. Undefined if none does. */
export function pricesFor(
  { type, price: periodMinor, basePrice, setupFee, minimumCommitment, ...plan }: PlanInput,
  own: DrawnPrices,
): PriceFields | undefined {
  const baseMinor = type === 'hybrid' ? (basePrice ?? periodMinor ?? 0) : (periodMinor ?? 0)
  const perUnit = plan.charges?.find(({ model }) => model === 'per_unit')?.key
  const hasRate = (plan.creditsPerUnit ?? 0) > 0 && (plan.usageTiers ?? []).length === 0
  const fitting = {
    ...(baseMinor >= 50 && type !== 'usage-based' ? { price: own.price } : {}),
    ...((setupFee ?? 0) > 0 ? { setupFee: own.setupFee } : {}),
    ...(hasRate ? { creditsPerUnit: own.creditsPerUnit } : {}),
    ...(perUnit === undefined ? {} : { charges: [{ charge: perUnit, price: own.chargePrice }] }),
    ...((minimumCommitment ?? 0) > 0 ? { minimumCommitment: own.minimum } : {}),
  }
  return Object.keys(fitting).length === 0 ? undefined : fitting
}

function withRamp(plan: PlanInput, steps: readonly DrawnPrices[]): PlanInput {
  const ramp = steps.flatMap((step) => {
    const { setupFee: _fee, ...prices } = pricesFor(plan, step) ?? {}
    return Object.keys(prices).length === 0 ? [] : [{ periods: 1, ...prices }]
  })
  return ramp.length === 0 ? plan : { ...plan, ramp }
}

export const planInputs: fc.Arbitrary<PlanInput> = fc
  .tuple(
    fc.oneof(measured, charged, recurring),
    taxBehavior,
    fc.constantFrom(0, 0, 400),
    fc.constantFrom(0, 0, 900),
    fc.oneof(fc.constant([]), fc.array(drawnPrices, { maxLength: 3 })),
  )
  .map(([plan, behavior, threshold, minimum, steps]) => {
    const isBilledLater = plan.type === 'usage-based' || plan.type === 'hybrid'
    const whole = {
      ...plan,
      taxBehavior: behavior as 'auto',
      ...(threshold > 0 && isBilledLater ? { billAtUnbilledMinor: threshold } : {}),
      ...(minimum > 0 && isBilledLater ? { minimumCommitment: minimum } : {}),
    }
    return withRamp(whole, steps)
  })

const noDetails = { businessName: null, customerName: null, taxId: null, taxIdType: null }

const taxDetails: fc.Arbitrary<TaxDetails | undefined> = fc.constantFrom<TaxDetails | undefined>(
  undefined,
  { ...noDetails, isBusiness: false, country: 'SE' },
  { ...noDetails, isBusiness: false, country: 'FI' },
  { ...noDetails, isBusiness: true, country: 'FI', taxId: 'FI12345671', taxIdType: 'eu_vat' },
)

export type Customer = {
  readonly tax: TaxDetails | undefined
  readonly carriedMinor: bigint
  readonly issuesZero: boolean
  readonly packUnits: number
  readonly coupons: readonly DrawnCoupon[]
  /** Prices that are agreed with the customer, for periods that begin from so many days on. Undefined for none. */
  readonly agreed: { readonly prices: DrawnPrices; readonly fromDays: number } | undefined
}

/** A coupon that the customer has redeemed, for the purchase or for all of them. */
export type DrawnCoupon = Pick<
  CouponTerms,
  'percentOff' | 'amountOffMinor' | 'currency' | 'duration' | 'durationInvoices'
> & { readonly isOfPurchase: boolean }

const coupon: fc.Arbitrary<DrawnCoupon> = fc
  .record({
    off: fc.constantFrom(
      { percentOff: '12.5', amountOffMinor: null, currency: null },
      { percentOff: '100', amountOffMinor: null, currency: null },
      { percentOff: null, amountOffMinor: 777n, currency: 'USD' },
    ),
    invoices: fc.constantFrom(null, 1, 2),
    isOfPurchase: fc.boolean(),
  })
  .map(({ off, invoices, isOfPurchase }) => ({
    ...{ ...off, isOfPurchase, durationInvoices: invoices },
    duration: invoices === null ? 'forever' : invoices === 1 ? 'once' : 'repeating',
  }))

export const customers: fc.Arbitrary<Customer> = fc.record({
  tax: taxDetails,
  carriedMinor: fc.oneof(
    fc.constant(0n),
    fc.bigInt({ min: -4_000n, max: 60n }),
    fc.bigInt({ min: 1n, max: 49n }),
  ),
  issuesZero: fc.boolean(),
  packUnits: fc.oneof(fc.constant(0), fc.nat(800)),
  coupons: fc.oneof(fc.constant([]), fc.array(coupon, { minLength: 1, maxLength: 2 })),
  agreed: fc.option(fc.record({ prices: drawnPrices, fromDays: fc.constantFrom(0, 0, 20, 45) }), {
    nil: undefined,
  }),
})

const micros = fc.oneof(
  fc.nat(50).map((units) => BigInt(units) * 1_000_000n),
  fc.nat(3_000).map((units) => BigInt(units) * 1_000_000n),
  fc.nat(4_000_000).map(BigInt),
)

export type StoryStep =
  | { readonly kind: 'use'; readonly micros: bigint; readonly lateMs: number }
  | { readonly kind: 'run' }
  /** Usage that was found to have reached the amount at which the plan is billed within the period. */
  | { readonly kind: 'threshold' }

const waits = fc.oneof(fc.nat(3_600_000), fc.nat(3 * dayMs), fc.nat(20 * dayMs))

export const storySteps: fc.Arbitrary<(readonly [number, StoryStep])[]> = fc.array(
  fc.tuple(
    waits,
    fc.oneof(
      {
        arbitrary: fc.record<Extract<StoryStep, { kind: 'use' }>>({
          kind: fc.constant('use'),
          micros,
          lateMs: fc.oneof(fc.constant(0), fc.nat(2 * dayMs)),
        }),
        weight: 5,
      },
      { arbitrary: fc.constant<StoryStep>({ kind: 'run' }), weight: 2 },
      { arbitrary: fc.constant<StoryStep>({ kind: 'threshold' }), weight: 1 },
    ),
  ),
  { minLength: 1, maxLength: 8 },
)

export type Act =
  | { readonly kind: 'continue' }
  /** The period goes on with so much more usage, as the preview assumed. */
  | { readonly kind: 'assume'; readonly micros: bigint }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'change'; readonly plan: PlanInput }
  /** The change takes effect so much later, within the period, or with the renewal. */
  | {
      readonly kind: 'schedule'
      readonly plan: PlanInput
      readonly waitMs: number | undefined
      readonly billing: 'prorate' | 'keep_period'
    }

export const acts: fc.Arbitrary<Act> = fc.oneof(
  fc.constant<Act>({ kind: 'continue' }),
  micros.map((more): Act => ({ kind: 'assume', micros: more })),
  fc.constant<Act>({ kind: 'cancel' }),
  { arbitrary: planInputs.map((plan): Act => ({ kind: 'change', plan })), weight: 2 },
  {
    arbitrary: fc.record({
      kind: fc.constant('schedule' as const),
      plan: planInputs,
      waitMs: fc.oneof(fc.constant(undefined), fc.nat(3 * dayMs), fc.nat(20 * dayMs)),
      billing: fc.constantFrom('prorate' as const, 'keep_period' as const),
    }),
    weight: 3,
  },
)
