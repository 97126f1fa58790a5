import fc from 'fast-check'
import type { Crash } from './crashing-process.ts'
import type { CustomerSettlement } from '@tollgate/schemas/http/customers'
import { anyProviderAct, type ProviderAct } from './provider-act.ts'
import { planNames, type PlanName } from './shop.ts'

/** Index of a customer's payment in the story. */
export type Slot = 0 | 1 | 2

const items = ['gold', 'silver', 'metered', 'combined', 'credits', 'credits that refill'] as const
export type Item = (typeof items)[number]

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

/** Cards saved for later charges. The last one has expired when it is charged. */
const savedCards = [
  'pm_card_visa',
  'pm_card_mastercard',
  'pm_card_chargeCustomerFail',
  'pm_card_simulator_expired',
] as const

export const endings = ['won', 'lost'] as const

/** Jobs of the control plane and of the billing runner. */
export const jobs = [
  'pollEvents',
  'processInbox',
  'reconcilePayments',
  'resumeRefunds',
  'rechargeWallets',
  'takeBackCredits',
  'removeProcessorCustomers',
  'applyCorrections',
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

/** The provider agrees a price with the customer, in minor units, for periods that begin from now on. */
export type AgreedPrice = {
  readonly do: 'agree a price'
  readonly plan: 'gold' | 'silver' | 'metered'
  readonly price: number
}

/** An act of the customer, its browser, its bank, the provider, the processor, a job, or the clock. */
export type Act =
  | { readonly do: 'buy'; readonly slot: Slot; readonly item: Item }
  | { readonly do: 'pay'; readonly slot: Slot; readonly card: string }
  | { readonly do: 'answer the bank'; readonly slot: Slot; readonly isAccepted: boolean }
  | { readonly do: 'wait for'; readonly slot: Slot }
  /** The customer opens the payment of its oldest unpaid invoice, to pay it with any card. */
  | { readonly do: 'open the debt'; readonly slot: Slot }
  | { readonly do: 'state the country'; readonly slot: Slot; readonly country: string }
  | { readonly do: 'refund'; readonly slot: Slot | 'newest'; readonly isPart: boolean }
  | { readonly do: 'end the refund'; readonly status: 'succeeded' | 'failed' }
  | { readonly do: 'dispute'; readonly slot: Slot | 'newest' }
  | { readonly do: 'end the dispute'; readonly ending: (typeof endings)[number] }
  | { readonly do: 'use credits' }
  | { readonly do: 'use'; readonly units: number; readonly lateDays: number }
  /** Activates a plan that needs no payment, or that waits for the payment of an unpaid invoice. */
  | { readonly do: 'take'; readonly plan: PlanName }
  | { readonly do: 'cancel' }
  | { readonly do: 'reactivate' }
  | { readonly do: 'enter a card'; readonly card: string }
  | { readonly do: 'leave' }
  /** The provider deletes the customer and decides about its open amounts. */
  | { readonly do: 'settle and leave'; readonly settle: CustomerSettlement }
  | ProviderAct<PlanName>
  | AgreedPrice
  | { readonly do: 'run'; readonly job: (typeof jobs)[number] }
  | { readonly do: 'deliver webhooks'; readonly order: readonly number[]; readonly copies: number }
  | { readonly do: 'lose webhooks' }
  | { readonly do: 'send pending calls' }
  | { readonly do: 'pass'; readonly minutes: number }
  | {
      readonly do: 'inject a fault'
      readonly kind: (typeof faultKinds)[number]
      readonly path: string
      readonly times: number
    }

export type Story = {
  readonly crashes: readonly Crash[]
  /** Acts in one list happen concurrently. */
  readonly acts: readonly (readonly Act[])[]
}

const slot = fc.constantFrom<Slot>(0, 1, 2)

const units = fc.constantFrom(1, 80, 700, 4_000)

/** The newest charge may be an off-session charge. */
const slotOrNewest = fc.constantFrom<Slot | 'newest'>(0, 1, 2, 'newest', 'newest', 'newest')

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 6, arbitrary: anyAct('buy', { slot, item: fc.constantFrom(...items) }) },
  { weight: 7, arbitrary: anyAct('pay', { slot, card: fc.constantFrom(...cards) }) },
  { weight: 2, arbitrary: anyAct('answer the bank', { slot, isAccepted: fc.boolean() }) },
  { weight: 3, arbitrary: anyAct('wait for', { slot }) },
  {
    weight: 1,
    arbitrary: anyAct('state the country', { slot, country: fc.constantFrom('SE', 'DE') }),
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
  { weight: 12, arbitrary: anyProviderAct(planNames) },
  {
    weight: 2,
    arbitrary: anyAct('agree a price', {
      plan: fc.constantFrom('gold' as const, 'silver' as const, 'metered' as const),
      price: fc.constantFrom(700, 3_300, 9_900),
    }),
  },
  { weight: 4, arbitrary: anyAct('run', { job: fc.constantFrom(...jobs) }) },
  { weight: 3, arbitrary: anyAct('run', { job: fc.constant('bill' as const) }) },
  {
    weight: 3,
    arbitrary: anyAct('deliver webhooks', {
      order: fc.array(fc.nat(30), { maxLength: 12 }),
      copies: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 1, arbitrary: anyAct('lose webhooks', {}) },
  { weight: 2, arbitrary: anyAct('send pending calls', {}) },
  {
    weight: 2,
    arbitrary: anyAct('pass', {
      minutes: fc.constantFrom(1, 2, 15, 60, 23 * 60, 25 * 60, 9 * 24 * 60),
    }),
  },
  { weight: 4, arbitrary: anyAct('pass', { minutes: fc.constant(31 * 24 * 60) }) },
  {
    weight: 4,
    arbitrary: anyAct('inject a fault', {
      kind: fc.constantFrom(...faultKinds),
      path: fc.constantFrom(...faultyPaths),
      times: fc.integer({ min: 1, max: 5 }),
    }),
  },
)

/** Returns an act with arbitrary values of its fields. */
export function anyAct<Name extends Act['do'], Fields extends object>(
  name: Name,
  fields: { [Field in keyof Fields]: fc.Arbitrary<Fields[Field]> },
): fc.Arbitrary<Fields & { readonly do: Name }> {
  return fc.record({ do: fc.constant(name), ...fields }) as unknown as fc.Arbitrary<
    Fields & { readonly do: Name }
  >
}

const crash: fc.Arbitrary<Crash> = fc.record({
  atStep: fc.integer({ min: 1, max: 40 }),
  sendsPendingCall: fc.boolean(),
})

type Acts = Story['acts']

const single = (given: Act): Acts => [[given]]

/** Beginnings of stories. Most of them give the customer a plan that is billed. */
const opening: fc.Arbitrary<Acts> = fc.oneof(
  { weight: 2, arbitrary: fc.constant<Acts>([]) },
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.constantFrom(...items), fc.constantFrom(...cards))
      .map(([item, card]) => [
        ...single({ do: 'buy', slot: 0, item }),
        ...single({ do: 'pay', slot: 0, card }),
        ...single({ do: 'wait for', slot: 0 }),
      ]),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(...savedCards)
      .map((card) => [
        ...single({ do: 'enter a card', card }),
        ...single({ do: 'deliver webhooks', order: [], copies: 1 }),
        ...single({ do: 'run', job: 'processInbox' }),
        ...single({ do: 'take', plan: 'pay as you go' }),
      ]),
  },
)

/** 32 days: the longest month plus 1 day, during which the usage of the month is collected. */
const monthMinutes = 32 * 24 * 60

const month: fc.Arbitrary<Acts> = units.map((used) => [
  ...single({ do: 'use', units: used, lateDays: 0 }),
  ...single({ do: 'pass', minutes: monthMinutes }),
  ...single({ do: 'run', job: 'bill' }),
])

const deliverWebhooks: Acts = [
  ...single({ do: 'deliver webhooks', order: [], copies: 1 }),
  ...single({ do: 'run', job: 'processInbox' }),
]

/** Chains of acts that are very unlikely in random order. */
const rareActs: fc.Arbitrary<Acts> = fc.constantFrom<Acts>(
  // A plan change is paid for the rest of the period.
  [
    ...single({ do: 'buy', slot: 1, item: 'gold' }),
    ...single({ do: 'pay', slot: 1, card: 'pm_card_visa' }),
    ...single({ do: 'wait for', slot: 1 }),
  ],
  // The next period cannot be charged, and the purchase is then cancelled.
  [
    ...single({ do: 'enter a card', card: 'pm_card_simulator_expired' }),
    ...deliverWebhooks,
    ...single({ do: 'pass', minutes: monthMinutes }),
    ...single({ do: 'run', job: 'bill' }),
    ...single({ do: 'cancel' }),
  ],
  // A renewal cannot be charged, and the customer leaves without paying it.
  [
    ...single({ do: 'enter a card', card: 'pm_card_simulator_expired' }),
    ...deliverWebhooks,
    ...single({ do: 'pass', minutes: monthMinutes }),
    ...single({ do: 'run', job: 'bill' }),
    ...single({ do: 'settle and leave', settle: 'write_off' }),
  ],
  // A bill of usage cannot be charged, and the provider decides about it in parts.
  ...(['voided', 'written_off', 'paid_outside', 'credited'] as const).map((what): Acts => [
    ...single({ do: 'buy', slot: 1, item: 'metered' }),
    ...single({ do: 'pay', slot: 1, card: 'pm_card_visa' }),
    ...single({ do: 'wait for', slot: 1 }),
    ...single({ do: 'enter a card', card: 'pm_card_simulator_expired' }),
    ...deliverWebhooks,
    ...single({ do: 'use', units: 4_000, lateDays: 0 }),
    ...single({ do: 'pass', minutes: monthMinutes }),
    ...single({ do: 'run', job: 'bill' }),
    ...single({ do: 'decide', what, isPart: true }),
    ...single({ do: 'decide', what, isPart: false }),
  ]),
  // A sale is returned to the balance, and then its payment is refunded at the processor as well.
  ...(['refunded to balance', 'credited'] as const).map((what): Acts => [
    ...single({ do: 'buy', slot: 1, item: 'silver' }),
    ...single({ do: 'pay', slot: 1, card: 'pm_card_visa' }),
    ...single({ do: 'wait for', slot: 1 }),
    ...single({ do: 'decide', what, isPart: false }),
    ...single({ do: 'refund', slot: 1, isPart: false }),
    ...deliverWebhooks,
  ]),
  // A credit is paid out in part to the card, and the payment is refunded after that.
  [
    ...single({ do: 'buy', slot: 1, item: 'silver' }),
    ...single({ do: 'pay', slot: 1, card: 'pm_card_visa' }),
    ...single({ do: 'wait for', slot: 1 }),
    ...single({ do: 'decide', what: 'credited', isPart: false }),
    ...single({ do: 'pay out', goesTo: 'card', isPart: true }),
    ...single({ do: 'refund', slot: 1, isPart: true }),
    ...deliverWebhooks,
    ...single({ do: 'pay out', goesTo: 'card', isPart: false }),
  ],
  // The customer leaves before usage is billed.
  [
    ...single({ do: 'buy', slot: 1, item: 'metered' }),
    ...single({ do: 'pay', slot: 1, card: 'pm_card_visa' }),
    ...single({ do: 'wait for', slot: 1 }),
    ...single({ do: 'use', units: 700, lateDays: 0 }),
    ...single({ do: 'settle and leave', settle: 'write_off' }),
  ],
  // Usage arrives after its period was billed.
  [
    ...single({ do: 'buy', slot: 1, item: 'metered' }),
    ...single({ do: 'pay', slot: 1, card: 'pm_card_visa' }),
    ...single({ do: 'wait for', slot: 1 }),
    ...single({ do: 'pass', minutes: monthMinutes }),
    ...single({ do: 'run', job: 'bill' }),
    ...single({ do: 'use', units: 700, lateDays: 5 }),
    ...single({ do: 'pass', minutes: monthMinutes }),
    ...single({ do: 'run', job: 'bill' }),
  ],
  // A dispute withdraws the money of credits, and the bank returns it later.
  [
    ...single({ do: 'buy', slot: 2, item: 'credits' }),
    ...single({ do: 'pay', slot: 2, card: 'pm_card_visa' }),
    ...single({ do: 'wait for', slot: 2 }),
    ...single({ do: 'dispute', slot: 2 }),
    ...deliverWebhooks,
    ...single({ do: 'run', job: 'takeBackCredits' }),
    ...single({ do: 'end the dispute', ending: 'won' }),
  ],
)

const randomActs: fc.Arbitrary<Acts> = fc
  .array(act, { minLength: 1, maxLength: 3 })
  .map((together) => [together])

/** Returns random stories: acts around a customer's payments, and crashes of the processes. */
export const anyStory: fc.Arbitrary<Story> = fc.record({
  crashes: fc.array(crash, { maxLength: 6 }),
  acts: fc
    .tuple(
      opening,
      fc.array(
        fc.oneof(
          { weight: 18, arbitrary: randomActs },
          { weight: 2, arbitrary: month },
          { weight: 1, arbitrary: rareActs },
        ),
        {
          minLength: 3,
          maxLength: 14,
        },
      ),
    )
    .map(([before, parts]) => [...before, ...parts.flat()]),
})
