import fc from 'fast-check'
import type { Death } from './life.ts'
import type { CustomerSettlement } from '@tollgate/schemas/http/customers'
import { planNames, type PlanName } from './shop.ts'

/** Payments of one customer, by the place they have in the story. */
export type Slot = 0 | 1 | 2

const wares = ['gold', 'silver', 'metered', 'combined', 'credits', 'credits that refill'] as const
export type Ware = (typeof wares)[number]

export const cards = [
  'pm_card_visa',
  'pm_card_visa',
  'pm_card_visa_chargeDeclined',
  'pm_card_authenticationRequired',
  'pm_card_chargeCustomerFail',
  'pm_card_simulator_processing',
  'pm_card_simulator_processingFails',
  'pm_card_pendingRefund',
  'pm_card_refundFail',
] as const

/** Entered to be charged later; the last one has expired by then. */
const savedCards = [
  'pm_card_visa',
  'pm_card_mastercard',
  'pm_card_chargeCustomerFail',
  'pm_card_simulator_expired',
] as const

export const endings = ['won', 'lost'] as const

/** Of the control plane, and of the billing runner. */
export const jobs = [
  'pollEvents',
  'workOffInbox',
  'reconcilePayments',
  'rechargeWallets',
  'takeBackCredits',
  'removeProcessorCustomers',
  'bill',
] as const

const faultKinds = [
  'error_before',
  'error_after',
  'reset_before',
  'reset_after',
  'hang_before',
  'hang_after',
  'rate_limit',
] as const

const faultyPaths = [
  '/v1/customers',
  '/v1/customers/:id',
  '/v1/payment_intents',
  '/v1/payment_intents/:id',
  '/v1/payment_intents/:id/cancel',
  '/v1/payment_intents/:id/confirm',
  '/v1/refunds',
  '/v1/setup_intents',
] as const

/** What somebody does: the customer, its browser, its bank, the provider, the processor, a job, time. */
export type Act =
  | { readonly do: 'buy'; readonly slot: Slot; readonly ware: Ware }
  | { readonly do: 'pay'; readonly slot: Slot; readonly card: string }
  | { readonly do: 'answer the bank'; readonly slot: Slot; readonly isAccepted: boolean }
  | { readonly do: 'wait for'; readonly slot: Slot }
  /** The customer has the payment of its oldest unpaid invoice opened, to pay it with any card. */
  | { readonly do: 'open the debt'; readonly slot: Slot }
  | { readonly do: 'tell where one is'; readonly slot: Slot; readonly country: string }
  | { readonly do: 'refund'; readonly slot: Slot | 'newest'; readonly isPart: boolean }
  | { readonly do: 'end the refund'; readonly status: 'succeeded' | 'failed' }
  | { readonly do: 'dispute'; readonly slot: Slot | 'newest' }
  | { readonly do: 'end the dispute'; readonly ending: (typeof endings)[number] }
  | { readonly do: 'use credits' }
  | { readonly do: 'use'; readonly units: number; readonly lateDays: number }
  /** What needs no payment, or waits for one that is owed. */
  | { readonly do: 'take'; readonly plan: PlanName }
  | { readonly do: 'cancel' }
  | { readonly do: 'reactivate' }
  | { readonly do: 'enter a card'; readonly card: string }
  | { readonly do: 'leave' }
  /** The provider deletes the customer, and says what becomes of what is owed. */
  | { readonly do: 'settle and leave'; readonly settle: CustomerSettlement }
  | { readonly do: 'run'; readonly job: (typeof jobs)[number] }
  | { readonly do: 'get mail'; readonly order: readonly number[]; readonly copies: number }
  | { readonly do: 'lose mail' }
  | { readonly do: 'hear the dead' }
  | { readonly do: 'pass'; readonly minutes: number }
  | {
      readonly do: 'go wrong'
      readonly kind: (typeof faultKinds)[number]
      readonly path: string
      readonly times: number
    }

export type Story = {
  readonly deaths: readonly Death[]
  /** What stands together happens at once. */
  readonly acts: readonly (readonly Act[])[]
}

const slot = fc.constantFrom<Slot>(0, 1, 2)

const units = fc.constantFrom(1, 80, 700, 4_000)

/** The newest charge of all may be one that nobody was there for. */
const slotOrNewest = fc.constantFrom<Slot | 'newest'>(0, 1, 2, 'newest', 'newest', 'newest')

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 6, arbitrary: anyAct('buy', { slot, ware: fc.constantFrom(...wares) }) },
  { weight: 7, arbitrary: anyAct('pay', { slot, card: fc.constantFrom(...cards) }) },
  { weight: 2, arbitrary: anyAct('answer the bank', { slot, isAccepted: fc.boolean() }) },
  { weight: 3, arbitrary: anyAct('wait for', { slot }) },
  {
    weight: 1,
    arbitrary: anyAct('tell where one is', { slot, country: fc.constantFrom('SE', 'DE') }),
  },
  { weight: 3, arbitrary: anyAct('refund', { slot: slotOrNewest, isPart: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: anyAct('end the refund', {
      status: fc.constantFrom('succeeded' as const, 'failed' as const),
    }),
  },
  { weight: 1, arbitrary: anyAct('dispute', { slot: slotOrNewest }) },
  {
    weight: 1,
    arbitrary: anyAct('end the dispute', {
      ending: fc.constantFrom(...endings),
    }),
  },
  { weight: 2, arbitrary: anyAct('use credits', {}) },
  {
    weight: 4,
    arbitrary: anyAct('use', {
      units,
      lateDays: fc.constantFrom(0, 0, 0, 3, 29),
    }),
  },
  { weight: 2, arbitrary: anyAct('take', { plan: fc.constantFrom(...planNames) }) },
  { weight: 1, arbitrary: anyAct('cancel', {}) },
  { weight: 1, arbitrary: anyAct('reactivate', {}) },
  { weight: 2, arbitrary: anyAct('enter a card', { card: fc.constantFrom(...savedCards) }) },
  { weight: 1, arbitrary: anyAct('leave', {}) },
  {
    weight: 1,
    arbitrary: anyAct('settle and leave', {
      settle: fc.constantFrom<CustomerSettlement>('bill_now', 'write_off'),
    }),
  },
  { weight: 4, arbitrary: anyAct('run', { job: fc.constantFrom(...jobs) }) },
  { weight: 3, arbitrary: anyAct('run', { job: fc.constant('bill' as const) }) },
  {
    weight: 3,
    arbitrary: anyAct('get mail', {
      order: fc.array(fc.nat(30), { maxLength: 12 }),
      copies: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 1, arbitrary: anyAct('lose mail', {}) },
  { weight: 2, arbitrary: anyAct('hear the dead', {}) },
  {
    weight: 2,
    arbitrary: anyAct('pass', {
      minutes: fc.constantFrom(1, 2, 15, 60, 23 * 60, 25 * 60, 9 * 24 * 60),
    }),
  },
  { weight: 4, arbitrary: anyAct('pass', { minutes: fc.constant(31 * 24 * 60) }) },
  {
    weight: 4,
    arbitrary: anyAct('go wrong', {
      kind: fc.constantFrom(...faultKinds),
      path: fc.constantFrom(...faultyPaths),
      times: fc.integer({ min: 1, max: 5 }),
    }),
  },
)

/** An act with whatever its fields may be. */
export function anyAct<Name extends Act['do'], Fields extends object>(
  name: Name,
  fields: { [Field in keyof Fields]: fc.Arbitrary<Fields[Field]> },
): fc.Arbitrary<Fields & { readonly do: Name }> {
  return fc.record({ do: fc.constant(name), ...fields }) as unknown as fc.Arbitrary<
    Fields & { readonly do: Name }
  >
}

const death: fc.Arbitrary<Death> = fc.record({
  atStep: fc.integer({ min: 1, max: 40 }),
  sendsLast: fc.boolean(),
})

type Acts = Story['acts']

const one = (given: Act): Acts => [[given]]

/** Most customers have something to be billed for. */
const opening: fc.Arbitrary<Acts> = fc.oneof(
  { weight: 2, arbitrary: fc.constant<Acts>([]) },
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.constantFrom(...wares), fc.constantFrom(...cards))
      .map(([ware, card]) => [
        ...one({ do: 'buy', slot: 0, ware }),
        ...one({ do: 'pay', slot: 0, card }),
        ...one({ do: 'wait for', slot: 0 }),
      ]),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(...savedCards)
      .map((card) => [
        ...one({ do: 'enter a card', card }),
        ...one({ do: 'get mail', order: [], copies: 1 }),
        ...one({ do: 'run', job: 'workOffInbox' }),
        ...one({ do: 'take', plan: 'pay as you go' }),
      ]),
  },
)

/** With a day to spare, in which the usage of a month is waited for. */
const monthMinutes = 32 * 24 * 60

const month: fc.Arbitrary<Acts> = units.map((used) => [
  ...one({ do: 'use', units: used, lateDays: 0 }),
  ...one({ do: 'pass', minutes: monthMinutes }),
  ...one({ do: 'run', job: 'bill' }),
])

const toldByMail: Acts = [
  ...one({ do: 'get mail', order: [], copies: 1 }),
  ...one({ do: 'run', job: 'workOffInbox' }),
]

/** What hardly ever happens by chance: one thing has to follow another. */
const rarely: fc.Arbitrary<Acts> = fc.constantFrom<Acts>(
  // Another plan is paid for the rest of the period.
  [
    ...one({ do: 'buy', slot: 1, ware: 'gold' }),
    ...one({ do: 'pay', slot: 1, card: 'pm_card_visa' }),
    ...one({ do: 'wait for', slot: 1 }),
  ],
  // The next period cannot be charged, and is not wanted any more.
  [
    ...one({ do: 'enter a card', card: 'pm_card_simulator_expired' }),
    ...toldByMail,
    ...one({ do: 'pass', minutes: monthMinutes }),
    ...one({ do: 'run', job: 'bill' }),
    ...one({ do: 'cancel' }),
  ],
  // Usage that is told of when its period is billed already.
  [
    ...one({ do: 'buy', slot: 1, ware: 'metered' }),
    ...one({ do: 'pay', slot: 1, card: 'pm_card_visa' }),
    ...one({ do: 'wait for', slot: 1 }),
    ...one({ do: 'pass', minutes: monthMinutes }),
    ...one({ do: 'run', job: 'bill' }),
    ...one({ do: 'use', units: 700, lateDays: 5 }),
    ...one({ do: 'pass', minutes: monthMinutes }),
    ...one({ do: 'run', job: 'bill' }),
  ],
  // Credits that a bank has withdrawn the money of, and gives back.
  [
    ...one({ do: 'buy', slot: 2, ware: 'credits' }),
    ...one({ do: 'pay', slot: 2, card: 'pm_card_visa' }),
    ...one({ do: 'wait for', slot: 2 }),
    ...one({ do: 'dispute', slot: 2 }),
    ...toldByMail,
    ...one({ do: 'run', job: 'takeBackCredits' }),
    ...one({ do: 'end the dispute', ending: 'won' }),
  ],
)

const something: fc.Arbitrary<Acts> = fc
  .array(act, { minLength: 1, maxLength: 3 })
  .map((together) => [together])

/** What may happen to a customer's payments, and how often the processes die that see to them. */
export const anyStory: fc.Arbitrary<Story> = fc.record({
  deaths: fc.array(death, { maxLength: 6 }),
  acts: fc
    .tuple(
      opening,
      fc.array(
        fc.oneof(
          { weight: 18, arbitrary: something },
          { weight: 2, arbitrary: month },
          { weight: 1, arbitrary: rarely },
        ),
        {
          minLength: 3,
          maxLength: 14,
        },
      ),
    )
    .map(([before, parts]) => [...before, ...parts.flat()]),
})
