import fc from 'fast-check'
import { couponNames, planNames, type CouponName, type PlanName } from './market.ts'
import { providerStep, type ProviderStep } from './provider-step.ts'

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

/** Hours until the next round. */
export const pauses = [1, 20, 9 * 24, 16 * 24, 32 * 24] as const

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
  { weight: 14, arbitrary: providerStep },
)

/** Maximum steps of one customer in one round. */
export const stepsMax = 4

/** The steps of one customer, by round. */
export type Sequence = readonly (readonly Step[])[]

export function anySequence(rounds: number): fc.Arbitrary<Sequence> {
  const round = fc.array(step, { minLength: 1, maxLength: stepsMax, size: 'max' })
  return fc.array(round, { minLength: rounds, maxLength: rounds })
}
