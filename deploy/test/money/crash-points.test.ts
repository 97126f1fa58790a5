import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CustomerSettlement } from '@tollgate/schemas/http/customers'
import type { Happening } from './happenings.ts'
import type { Crash } from './crashing-process.ts'
import type { Act, jobs, Item } from './story.ts'
import { runStory } from './run-story.ts'
import { Lanes } from './lanes.ts'

/*
 * The process dies once at each of its steps: before and after each commit, each single statement and each call of the processor.
 * The last call reaches the processor or not. The customer repeats unanswered requests.
 */

/**
 * Maximum crashes per story, spread evenly over it. A story with fewer steps is tested completely. Each story begins with another
 * step, so that few crashes per story reach early and late steps too.
 */
const asked = process.env['TOLLGATE_TEST_MONEY_DEATHS']
const crashesMax = Number(asked ?? 1)

let lanes: Lanes

beforeAll(async () => {
  lanes = await Lanes.open(asked === undefined ? 1 : 4)
})
afterAll(() => lanes.stop())

type Decision = Extract<Act, { readonly do: 'decide' }>['what']

const visa = 'pm_card_visa'
const buy = (slot: 0 | 1, item: Item): Act[] => [{ do: 'buy', slot, item }]
const pay = (slot: 0 | 1, card = visa): Act[] => [{ do: 'pay', slot, card }]
const waitFor = (slot: 0 | 1): Act[] => [{ do: 'wait for', slot }]
const openDebt = (slot: 0 | 1): Act[] => [{ do: 'open the debt', slot }]
const mail: Act[] = [{ do: 'deliver webhooks', order: [], copies: 2 }]
const job = (name: (typeof jobs)[number]): Act[] => [{ do: 'run', job: name }]
/** 32 days: the longest month plus 1 day, during which the usage of the month is collected. */
const month: Act[] = [{ do: 'pass', minutes: 32 * 24 * 60 }]
const refund = (slot: 0 | 'newest' = 0): Act[] => [{ do: 'refund', slot, isPart: false }]
const decide = (what: Decision, isPart = false): Act[] => [{ do: 'decide', what, isPart }]
const agree = (plan: 'silver', price: number): Act[] => [{ do: 'agree a price', plan, price }]
const payOut = (isPart = false): Act[] => [{ do: 'pay out', goesTo: 'card', isPart }]
const use = (units: number, lateDays = 0): Act[] => [{ do: 'use', units, lateDays }]
const enter = (card: string): Act[] => [{ do: 'enter a card', card }]
const settle = (how: CustomerSettlement): Act[] => [{ do: 'settle and leave', settle: how }]
/** The customer repeats unanswered requests. */
const bought = (item: Item): readonly Act[][] => {
  return [buy(0, item), buy(0, item), pay(0), waitFor(0), waitFor(0)]
}
const told: readonly Act[][] = [mail, job('processInbox'), job('processInbox')]

const stories: Record<string, readonly (readonly Act[])[]> = {
  'credits are bought': [buy(0, 'credits'), buy(0, 'credits'), pay(0), waitFor(0), waitFor(0)],
  'a plan is bought, and webhooks report the payment': [
    ...[buy(0, 'gold'), buy(0, 'gold'), pay(0)],
    ...[mail, job('processInbox'), job('processInbox')],
  ],
  'the bank asks the customer to confirm a payment': [
    ...[buy(0, 'gold'), buy(0, 'gold'), pay(0, 'pm_card_authenticationRequired'), waitFor(0)],
    ...[[{ do: 'answer the bank', slot: 0, isAccepted: true } as const], waitFor(0), waitFor(0)],
  ],
  'a plan is paid twice, and one payment is refunded': [
    ...[buy(0, 'gold'), buy(0, 'gold'), buy(1, 'gold'), buy(1, 'gold'), pay(0), pay(1)],
    ...[waitFor(0), waitFor(1), waitFor(0), waitFor(1), job('reconcilePayments')],
  ],
  'the outcome of a payment is unknown, and two processes reconcile it at once': [
    [{ do: 'inject a fault', kind: 'hang_before', path: '/v1/payment_intents', times: 2 }],
    ...[buy(0, 'credits'), [{ do: 'pass', minutes: 25 * 60 } as const]],
    ...[[...job('reconcilePayments'), ...buy(0, 'credits')], buy(0, 'credits'), pay(0), waitFor(0)],
  ],
  'a plan is paid while the payment of another one is open, which is withdrawn': [
    ...[buy(0, 'gold'), buy(0, 'gold'), buy(1, 'silver'), buy(1, 'silver'), pay(0)],
    ...[waitFor(0), waitFor(0), job('reconcilePayments'), pay(1)],
  ],
  'a credit pays a part of a plan': [
    ...bought('silver'),
    ...[decide('credited', true), buy(1, 'gold'), buy(1, 'gold'), pay(1), waitFor(1), waitFor(1)],
  ],
  'a credit pays a part of a plan whose payment is never made': [
    ...bought('silver'),
    ...[decide('credited', true), buy(1, 'gold'), buy(1, 'gold')],
    ...[[{ do: 'pass', minutes: 25 * 60 } as const], job('reconcilePayments')],
  ],
  'a credit pays a plan as a whole': [
    ...bought('gold'),
    ...[decide('refunded to balance'), buy(1, 'silver'), buy(1, 'silver')],
  ],
  'a payment is refunded to the balance and disputed': [
    ...bought('gold'),
    ...[decide('refunded to balance'), [{ do: 'dispute', slot: 0 } as const], ...told],
    ...[[{ do: 'end the dispute', ending: 'lost' } as const], ...told],
  ],
  'credits run out, and are topped up': [
    ...[buy(0, 'credits that refill'), buy(0, 'credits that refill'), pay(0), waitFor(0)],
    ...[waitFor(0), [{ do: 'use credits' } as const], job('rechargeWallets')],
    ...[job('rechargeWallets'), [{ do: 'pass', minutes: 2 } as const], job('reconcilePayments')],
  ],
  'credits run out, and the card is declined': [
    ...[buy(0, 'credits that refill'), buy(0, 'credits that refill')],
    ...[pay(0, 'pm_card_authenticationRequired')],
    ...[[{ do: 'answer the bank', slot: 0, isAccepted: true } as const], waitFor(0), waitFor(0)],
    ...[[{ do: 'use credits' } as const], job('rechargeWallets'), job('rechargeWallets')],
  ],
  'a plan is renewed': [
    ...[buy(0, 'gold'), buy(0, 'gold'), pay(0), waitFor(0), waitFor(0), month],
    ...[job('bill'), job('bill'), mail, job('processInbox')],
  ],
  'a renewal needs confirmation by the cardholder': [
    ...[buy(0, 'gold'), buy(0, 'gold'), pay(0, 'pm_card_authenticationRequired')],
    ...[[{ do: 'answer the bank', slot: 0, isAccepted: true } as const], waitFor(0), waitFor(0)],
    ...[month, job('bill'), job('bill'), mail, job('processInbox')],
  ],
  'a renewal is refunded': [
    ...[...bought('gold'), month, job('bill'), job('bill'), refund('newest'), ...told],
  ],
  'a card has expired, and another one is entered': [
    ...[...bought('gold'), enter('pm_card_simulator_expired'), ...told, month, job('bill')],
    ...[
      [
        {
          do: 'inject a fault',
          kind: 'error_before',
          path: '/v1/customers/:id',
          times: 1,
        } as const,
      ],
    ],
    ...[enter(visa), enter(visa), ...told, job('bill'), job('bill')],
  ],
  'the customer pays a renewal that could not be charged': [
    ...[...bought('gold'), enter('pm_card_chargeCustomerFail'), ...told, month, job('bill')],
    ...[openDebt(1), openDebt(1), pay(1), waitFor(1), waitFor(1), job('bill')],
  ],
  'usage is billed without a card, and the customer pays the invoice': [
    ...[[{ do: 'take', plan: 'pay as you go' } as const], use(700)],
    ...[[{ do: 'take', plan: 'pay as you go' } as const], use(80), month, job('bill'), job('bill')],
    ...[openDebt(0), openDebt(0), pay(0), waitFor(0), waitFor(0)],
  ],
  'a plan that waits for its payment is cancelled': [
    ...[...bought('gold'), enter('pm_card_chargeCustomerFail'), ...told, month, job('bill')],
    ...[[{ do: 'cancel' } as const], [{ do: 'cancel' } as const], job('bill')],
  ],
  'usage is billed, and late usage with the next invoice': [
    ...[...bought('metered'), use(700), month, job('bill'), job('bill'), use(80, 5)],
    ...[month, job('bill'), job('bill')],
  ],
  'a period costs nothing, and its late usage is billed with the next period': [
    ...[...bought('metered'), month, job('bill'), job('bill'), use(700, 5)],
    ...[month, job('bill'), job('bill')],
  ],
  'usage stays below the free units, and late usage is priced after it': [
    ...[enter(visa), enter(visa), ...told, [{ do: 'take', plan: 'pay as you go' } as const]],
    ...[[{ do: 'take', plan: 'pay as you go' } as const], use(80), month, job('bill'), job('bill')],
    ...[use(80, 5), use(1), month, job('bill'), job('bill')],
  ],
  'price and usage are on one invoice': [
    ...[...bought('combined'), use(700), month, job('bill'), job('bill'), ...told],
  ],
  'post-paid usage is charged to the card': [
    ...[enter(visa), enter(visa), ...told],
    ...[[{ do: 'take', plan: 'pay as you go' } as const], use(700)],
    ...[[{ do: 'take', plan: 'pay as you go' } as const], use(80), month, job('bill'), job('bill')],
  ],
  'a plan is changed, and the rest of the period is charged': [
    ...[...bought('silver'), [{ do: 'pass', minutes: 9 * 24 * 60 } as const]],
    ...[buy(1, 'gold'), buy(1, 'gold'), pay(1), waitFor(1), waitFor(1), month, job('bill')],
  ],
  'a cheaper plan replaces a plan, and reduces the next invoice': [
    ...[...bought('gold'), [{ do: 'pass', minutes: 9 * 24 * 60 } as const]],
    ...[[{ do: 'take', plan: 'silver' } as const], [{ do: 'take', plan: 'silver' } as const]],
    ...[month, job('bill'), job('bill')],
  ],
  'credits of a refund are debited, and returned when the refund fails': [
    ...[...bought('credits'), [{ do: 'use credits' } as const]],
    ...[[{ do: 'refund', slot: 0, isPart: true } as const], ...told, job('takeBackCredits')],
    ...[job('takeBackCredits'), [{ do: 'dispute', slot: 0 } as const], ...told],
    ...[job('takeBackCredits'), [{ do: 'end the dispute', ending: 'won' } as const], ...told],
    ...[[{ do: 'pass', minutes: 1 } as const], job('takeBackCredits'), job('takeBackCredits')],
  ],
  'the tax is added': [
    ...[buy(0, 'credits'), buy(0, 'credits')],
    ...[[{ do: 'state the country', slot: 0, country: 'SE' } as const], pay(0), waitFor(0)],
    waitFor(0),
  ],
  'a plan is refunded': [
    ...[buy(0, 'gold'), buy(0, 'gold'), pay(0), waitFor(0), waitFor(0)],
    ...[refund(), ...told],
  ],
  'a plan is refunded to the card by decision': [
    ...[...bought('gold'), decide('refunded to card', true), decide('refunded to card')],
    ...[[{ do: 'pass', minutes: 2 } as const], job('resumeRefunds'), ...told],
  ],
  'the outcome of a requested refund is unknown for longer than the processor knows its key': [
    ...bought('gold'),
    [{ do: 'inject a fault', kind: 'error_after', path: '/v1/refunds', times: 3 }],
    ...[decide('refunded to card', true), [{ do: 'pass', minutes: 25 * 60 } as const]],
    ...[job('resumeRefunds'), job('resumeRefunds'), ...told],
  ],
  'a plan is refunded to the balance by decision, and then at the processor': [
    ...[...bought('gold'), decide('refunded to balance', true), decide('refunded to balance')],
    ...[decide('refunded to balance'), refund(), ...told],
  ],
  'a credit is paid out to the card, and one payout fails': [
    ...[buy(0, 'silver'), buy(0, 'silver'), pay(0, 'pm_card_refundFail'), waitFor(0), waitFor(0)],
    ...[decide('credited'), payOut(true), payOut(true), ...told],
    ...[[{ do: 'pass', minutes: 2 } as const], job('resumeRefunds'), ...told, payOut()],
  ],
  'an item is charged with the next period': [
    ...[...bought('gold'), [{ do: 'add an item' } as const], [{ do: 'add an item' } as const]],
    ...[month, job('bill'), job('bill'), ...told],
  ],
  'a plan with a ramp is bought and renewed at agreed prices': [
    ...[agree('silver', 700), agree('silver', 700), ...bought('silver'), agree('silver', 3_300)],
    ...[
      month,
      job('bill'),
      job('bill'),
      agree('silver', 500),
      month,
      job('bill'),
      job('bill'),
      ...told,
    ],
  ],
  'credits are refunded to the balance by decision': [
    ...[
      ...bought('credits'),
      [{ do: 'use credits' } as const],
      decide('refunded to balance', true),
    ],
    ...[decide('refunded to card'), job('takeBackCredits'), ...told, job('takeBackCredits')],
  ],
  'a dispute withdraws a payment that is to be refunded, which is not refunded again': [
    ...[buy(0, 'credits'), buy(0, 'credits'), [{ do: 'leave' } as const], pay(0)],
    ...[[{ do: 'dispute', slot: 0 } as const], mail, job('processInbox')],
    ...[job('reconcilePayments'), [{ do: 'end the dispute', ending: 'lost' } as const], mail],
    ...[job('processInbox'), [{ do: 'pass', minutes: 300 } as const], job('reconcilePayments')],
  ],
  'a customer is deleted after unbilled usage is billed and charged': [
    ...[enter(visa), enter(visa), ...told],
    ...[[{ do: 'take', plan: 'pay as you go' } as const], use(700)],
    ...[settle('bill_now'), settle('bill_now'), settle('bill_now'), ...told],
  ],
  'a customer with a declined card pays with another one and is deleted': [
    ...[...bought('metered'), use(4_000), enter('pm_card_chargeCustomerFail'), ...told],
    ...[settle('bill_now'), settle('bill_now'), enter(visa), enter(visa), ...told],
    ...[settle('bill_now'), settle('bill_now'), ...told],
  ],
  'a customer is deleted, and unpaid amounts are written off': [
    ...[...bought('metered'), use(4_000), enter('pm_card_chargeCustomerFail'), ...told],
    ...[settle('bill_now'), settle('bill_now'), use(700), settle('write_off')],
    ...[settle('write_off'), settle('write_off'), ...told],
  ],
  'a customer is deleted, and credits are forfeited': [
    ...[...bought('credits'), [{ do: 'use credits' } as const], settle('write_off')],
    ...[settle('write_off'), settle('write_off'), ...told],
  ],
  'a customer is deleted, and an open payment succeeds afterwards': [
    ...[buy(0, 'gold'), buy(0, 'gold'), [{ do: 'leave' } as const], pay(0)],
    ...[mail, job('processInbox'), job('reconcilePayments'), job('reconcilePayments')],
  ],
}

/** What must happen in a story, because the story would otherwise test nothing. */
const shown: Readonly<Record<string, readonly Happening[]>> = {
  'a plan is paid twice, and one payment is refunded': ['payment that was paid back'],
  'credits run out, and are topped up': ['automatic top-up'],
  'a plan is renewed': ['renewal that was paid'],
  'a renewal is refunded': ['invoice that was refunded'],
  'a card has expired, and another one is entered': ['invoice that was paid after that'],
  'the customer pays a renewal that could not be charged': ['invoice that was paid after that'],
  'usage is billed without a card, and the customer pays the invoice': [
    'bill of usage that was paid',
  ],
  'usage is billed, and late usage with the next invoice': [
    ...(['bill of usage that was paid', 'line of late usage'] as const),
  ],
  'a period costs nothing, and its late usage is billed with the next period': [
    ...(['bill of usage that was paid', 'line of late usage'] as const),
  ],
  'usage stays below the free units, and late usage is priced after it': [
    ...(['bill of usage that was paid', 'line of late usage'] as const),
  ],
  'price and usage are on one invoice': ['bill of both'],
  'post-paid usage is charged to the card': ['bill of usage that was paid'],
  'a customer is deleted after unbilled usage is billed and charged': [
    ...(['bill of usage that was paid', 'customer that was deleted'] as const),
  ],
  'a customer with a declined card pays with another one and is deleted': [
    ...(['bill of usage that was paid', 'customer that was deleted'] as const),
  ],
  'a customer is deleted, and unpaid amounts are written off': [
    ...(['invoice that is uncollectible', 'usage that was written off'] as const),
    'customer that was deleted',
  ],
  'a customer is deleted, and credits are forfeited': [
    ...(['credits that were forfeited', 'customer that was deleted'] as const),
  ],
  'a plan is changed, and the rest of the period is charged': ['change of plan that was paid'],
  'a cheaper plan replaces a plan, and reduces the next invoice': [
    ...(['change of plan that was credited', 'renewal that was paid'] as const),
  ],
  'credits of a refund are debited, and returned when the refund fails': ['credits given back'],
  'a plan is refunded to the card by decision': ['refund to the card by decision'],
  'the outcome of a requested refund is unknown for longer than the processor knows its key': [
    'refund to the card by decision',
  ],
  'a plan is refunded to the balance by decision, and then at the processor': [
    ...(['refund to the balance by decision', 'refund that was taken from the balance'] as const),
  ],
  'a credit is paid out to the card, and one payout fails': ['payout of a balance'],
  'an item is charged with the next period': ['item that was charged', 'renewal that was paid'],
  'credits are refunded to the balance by decision': [
    ...(['refund to the balance by decision', 'credits taken back'] as const),
  ],
}

test.concurrent.each(Object.keys(stories))('%s', { timeout: 3_600_000 }, (name) =>
  lanes.run(async (stores) => {
    const acts = stories[name]!
    const { steps, happened } = await runStory(stores, { crashes: [], acts })
    expect((shown[name] ?? []).filter((happening) => happened[happening] === 0)).toEqual([])
    const failures: string[] = []
    const crashes = someOf(crashesAt(steps), Object.keys(stories).indexOf(name))
    expect(crashes).not.toEqual([])
    for (const crash of crashes) {
      try {
        const told = await runStory(stores, { crashes: [crash], acts })
        expect(told.crashes).toBe(1)
      } catch (error) {
        failures.push(
          `${steps[Number(crash.atStep) - 1]} ${JSON.stringify(crash)}: ${String(error)}`,
        )
      }
    }
    expect(failures).toEqual([])
    if (asked !== undefined) console.log(`${name}: ${crashes.length} crashes`)
  }),
)

function someOf(crashes: readonly Crash[], story: number): readonly Crash[] {
  const apart = Math.max(crashes.length / crashesMax, 1)
  const first = Math.floor((apart * story) / Object.keys(stories).length)
  return crashes.filter((_, index) => index >= first && (index - first) % apart < 1)
}

function crashesAt(steps: readonly string[]): Crash[] {
  return steps.flatMap((step, index) => {
    const dying = { atStep: index + 1, sendsPendingCall: false }
    const isCall = /^before (create|change|cancel|ensure|confirm)/.test(step)
    return isCall ? [dying, { ...dying, sendsPendingCall: true }] : [dying]
  })
}
