import fc from 'fast-check'
import { couponNames, type CouponName } from '../money/coupons.ts'
import { anyProviderAct, type ProviderAct } from '../money/provider-act.ts'
import { agreedPrices, planNames, type AgreedPlanName, type PlanName } from './market.ts'

/** An action of a customer, its bank or the provider. `payment` is the index of a payment in the sequence, newest first. */
export type Step =
  | { readonly do: 'activate'; readonly plan: PlanName }
  | {
      readonly do: 'buy'
      readonly plan: PlanName
      readonly card: string
      readonly coupon?: CouponName | undefined
    }
  | { readonly do: 'top up' }
  | { readonly do: 'save card'; readonly card: string }
  | { readonly do: 'pay debt' }
  | { readonly do: 'cancel' }
  | { readonly do: 'reactivate' }
  | { readonly do: 'refund'; readonly payment: number; readonly isPart: boolean }
  | { readonly do: 'dispute'; readonly payment: number }
  | { readonly do: 'close disputes'; readonly ending: 'won' | 'lost' }
  /** Uses the admitted units, at most this many. */
  | { readonly do: 'use'; readonly unitsMax: number }
  | ProviderStep

/** The provider agrees on a price with the customer, or no longer. */
export type Agree = { readonly do: 'agree on a price'; readonly plan: AgreedPlanName | undefined }

/** A step of the provider. */
export type ProviderStep = ProviderAct<PlanName> | Agree

/** Hours until the next round. */
export const pauses = [1, 20, 9 * 24, 16 * 24, 32 * 24] as const

const agreedNames = Object.keys(agreedPrices) as AgreedPlanName[]

const cards = ['pm_card_visa', 'pm_card_visa', 'pm_card_visa', 'pm_card_chargeDeclined'] as const

/** Saved cards. The second is declined when it is charged, the third has expired by then. */
const savedCards = [
  'pm_card_visa',
  'pm_card_chargeCustomerFail',
  'pm_card_simulator_expired',
] as const

const plan = fc.constantFrom(...planNames)
const payment = fc.constantFrom(0, 0, 0, 1, 2)

/** Maximum units of a use. The largest value exceeds every limit, so that the customer uses everything that is left. */
const unitsMax = fc.constantFrom(1, 30, 100, 1_000, 1_000)

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('activate' as const), plan }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('buy' as const),
      plan,
      card: fc.constantFrom(...cards),
      coupon: fc.constantFrom(undefined, undefined, undefined, undefined, ...couponNames),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('top up' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('save card' as const),
      card: fc.constantFrom(...savedCards),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pay debt' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reactivate' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('refund' as const),
      payment,
      isPart: fc.constantFrom(false, false, true),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('dispute' as const), payment }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('close disputes' as const),
      ending: fc.constantFrom('won' as const, 'lost' as const),
    }),
  },
  { weight: 9, arbitrary: fc.record({ do: fc.constant('use' as const), unitsMax }) },
  { weight: 14, arbitrary: anyProviderAct(planNames) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('agree on a price' as const),
      plan: fc.constantFrom(...agreedNames, undefined),
    }),
  },
)

/** Maximum steps of one customer in one round. */
export const stepsMax = 4

/** The steps of one customer, by round. */
export type Sequence = readonly (readonly Step[])[]

const visa = 'pm_card_visa'
const useAll: Step = { do: 'use', unitsMax: 1_000 }

/** Beginnings of sequences that are very unlikely in random order, by round. */
const openings: readonly Sequence[] = [
  // Billed usage is corrected, or gets further usage.
  ...(['cheap', 'committed', 'dear'] as const).flatMap((metered): Sequence[] => [
    [
      [{ do: 'save card', card: visa }, { do: 'activate', plan: metered }, useAll],
      [{ do: 'correct', place: 0.9, units: 0 }],
      [{ do: 'correct', place: 0.9, units: 250 }],
    ],
    [
      [{ do: 'save card', card: visa }, { do: 'activate', plan: metered }, useAll],
      [{ do: 'backfill', place: 0.9, units: 200 }],
      [{ do: 'decide', what: 'refunded to balance', isPart: true }],
    ],
  ]),
  // A bill of usage cannot be charged, and the provider decides about it.
  ...(['credited', 'voided', 'written_off', 'paid_outside'] as const).map((what): Sequence => [
    [{ do: 'buy', plan: 'hybrid', card: visa }, { do: 'save card', card: savedCards[2] }, useAll],
    [{ do: 'decide', what, isPart: true }],
    [
      { do: 'decide', what, isPart: false },
      { do: 'correct', place: 0.9, units: 5 },
    ],
  ]),
  // A sale is returned to the balance, which is refunded, paid out, or pays the next sale.
  ...(['credited', 'refunded to balance'] as const).flatMap((what): Sequence[] => {
    const sold: readonly Step[] = [
      { do: 'buy', plan: 'gold', card: visa },
      { do: 'decide', what, isPart: false },
    ]
    return [
      [[...sold, { do: 'refund', payment: 0, isPart: false }], [useAll], []],
      [[...sold, { do: 'pay out', goesTo: 'card', isPart: true }], [useAll], []],
      [[...sold, { do: 'buy', plan: 'silver', card: visa }, useAll], [], []],
    ]
  }),
  // The provider moves a purchase within its period, and the customer changes it again.
  ...(['prorate', 'keep_period'] as const).map((billing): Sequence => [
    [{ do: 'buy', plan: 'silver', card: visa }, useAll, { do: 'migrate', plan: 'gold', billing }],
    [useAll, { do: 'refund', payment: 0, isPart: false }, useAll],
    [{ do: 'buy', plan: 'hybrid', card: visa }, useAll],
  ]),
]

/** Returns sequences of random steps. Some of them begin with rare ones. */
export function anySequence(rounds: number): fc.Arbitrary<Sequence> {
  const round = fc.array(step, { minLength: 1, maxLength: stepsMax, size: 'max' })
  const random = fc.array(round, { minLength: rounds, maxLength: rounds })
  const opening = fc.oneof(
    { weight: 4, arbitrary: fc.constant<Sequence>([]) },
    { weight: 1, arbitrary: fc.constantFrom(...openings) },
  )
  return fc
    .tuple(opening, random)
    .map(([first, then]) =>
      then.map((steps, at) => [...(first[at] ?? []), ...steps].slice(0, stepsMax)),
    )
}
