import fc from 'fast-check'
import type { Billing } from './change-terms.ts'
import { couponNames, type CouponName } from './coupons.ts'
import type { GrantCredits, MoveGrants } from './grant-credits.ts'
import type { SetSupport } from './support-add-on.ts'

const decisions = [
  'credited',
  'voided',
  'written_off',
  'paid_outside',
  'refunded to card',
  'refunded to balance',
] as const

/** An act of the provider. `place` is the index of a record of the customer, from 0 to 1, newest first. */
export type ProviderAct<PlanName extends string> =
  /** The provider decides about the newest invoice of the customer. */
  | { readonly do: 'decide'; readonly what: (typeof decisions)[number]; readonly isPart: boolean }
  | { readonly do: 'pay out'; readonly goesTo: 'card' | 'other'; readonly isPart: boolean }
  | { readonly do: 'add an item' }
  | { readonly do: 'issue an invoice' }
  /** The saved card is charged for the oldest open invoice. */
  | { readonly do: 'collect' }
  /** A discount for the purchase, or for all invoices of the customer. */
  | { readonly do: 'give a coupon'; readonly coupon: CouponName; readonly isForPurchase: boolean }
  | {
      readonly do: 'schedule'
      readonly plan: PlanName
      readonly billing: Billing
      readonly days: number
    }
  | { readonly do: 'withdraw the change' }
  /** The purchase of the customer is moved to the current terms of the plan. */
  | { readonly do: 'migrate'; readonly plan: PlanName; readonly billing: Billing }
  /** A record gets another value. 0 takes it away. */
  | { readonly do: 'correct'; readonly place: number; readonly units: number }
  /** Usage is recorded at the time of an earlier record. */
  | { readonly do: 'backfill'; readonly place: number; readonly units: number }
  | SetSupport
  | GrantCredits
  | MoveGrants

const billing = fc.constantFrom<Billing>('renewal', 'prorate', 'prorate', 'keep_period')
const place = fc.constantFrom(0, 0, 0.5, 0.9)
const isPart = fc.boolean()

/** Returns the record at the place. `records` are those of the customer, oldest first. Undefined if there are none. */
export function recordAt<Recorded>(
  records: readonly Recorded[],
  place: number,
): Recorded | undefined {
  return records.at(Math.min(-1, -Math.ceil(place * records.length)))
}

/** A removal within a period credits the rest of it, so it is only made with a renewal, like every other end of a price. */
const setSupport: fc.Arbitrary<SetSupport> = fc.oneof(
  fc.record({
    do: fc.constant('set the support' as const),
    quantity: fc.constantFrom(1, 3),
    when: fc.constant('now' as const),
  }),
  fc.record({
    do: fc.constant('set the support' as const),
    quantity: fc.constantFrom(0, 2),
    when: fc.constant('renewal' as const),
  }),
)

/** Returns arbitrary acts of a provider who sells these plans. */
export function anyProviderAct<PlanName extends string>(
  planNames: readonly PlanName[],
): fc.Arbitrary<ProviderAct<PlanName>> {
  const plan = fc.constantFrom(...planNames)
  return fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('decide' as const),
        what: fc.constantFrom(...decisions),
        isPart,
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('pay out' as const),
        goesTo: fc.constantFrom('card' as const, 'other' as const),
        isPart,
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('add an item' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('issue an invoice' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('collect' as const) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('give a coupon' as const),
        coupon: fc.constantFrom(...couponNames),
        isForPurchase: fc.boolean(),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('schedule' as const),
        plan,
        billing,
        days: fc.constantFrom(0, 0, 3, 40),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('withdraw the change' as const) }) },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('migrate' as const), plan, billing }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('correct' as const),
        place,
        units: fc.constantFrom(0, 0, 5, 250),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('backfill' as const),
        place,
        units: fc.constantFrom(1, 40, 200),
      }),
    },
    { weight: 2, arbitrary: setSupport },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('grant credits' as const),
        isForPurchase: fc.boolean(),
        expires: fc.boolean(),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('move the grants' as const),
        move: fc.constantFrom('pause' as const, 'resume' as const, 'end' as const),
      }),
    },
  )
}
