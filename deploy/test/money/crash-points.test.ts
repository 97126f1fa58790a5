import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CustomerSettlement } from '@tollgate/schemas/http/customers'
import type { Happening } from './happenings.ts'
import type { Death } from './life.ts'
import type { Act, jobs, Ware } from './story.ts'
import { tellStory } from './tell-story.ts'
import { Lanes } from './lanes.ts'

/*
 * The process dies once at each of its steps: before and after each commit, each single statement and each call of the processor.
 * The last call reaches the processor or not. The customer repeats unanswered requests.
 */

/** Maximum deaths per story, spread evenly over it. A story with fewer steps is tested completely. */
const asked = process.env['TOLLGATE_TEST_MONEY_DEATHS']
const deathsMax = Number(asked ?? 2)

let lanes: Lanes

beforeAll(async () => {
  lanes = await Lanes.open(asked === undefined ? 1 : 4)
})
afterAll(() => lanes.stop())

const visa = 'pm_card_visa'
const buy = (slot: 0 | 1, ware: Ware): Act[] => [{ do: 'buy', slot, ware }]
const pay = (slot: 0 | 1, card = visa): Act[] => [{ do: 'pay', slot, card }]
const waitFor = (slot: 0 | 1): Act[] => [{ do: 'wait for', slot }]
const openDebt = (slot: 0 | 1): Act[] => [{ do: 'open the debt', slot }]
const mail: Act[] = [{ do: 'get mail', order: [], copies: 2 }]
const job = (name: (typeof jobs)[number]): Act[] => [{ do: 'run', job: name }]
/** 32 days: the longest month plus 1 day, during which the usage of the month is collected. */
const month: Act[] = [{ do: 'pass', minutes: 32 * 24 * 60 }]
const refund = (slot: 0 | 'newest' = 0): Act[] => [{ do: 'refund', slot, isPart: false }]
const use = (units: number, lateDays = 0): Act[] => [{ do: 'use', units, lateDays }]
const enter = (card: string): Act[] => [{ do: 'enter a card', card }]
const settle = (how: CustomerSettlement): Act[] => [{ do: 'settle and leave', settle: how }]
/** The customer repeats unanswered requests. */
const bought = (ware: Ware): readonly Act[][] => {
  return [buy(0, ware), buy(0, ware), pay(0), waitFor(0), waitFor(0)]
}
const told: readonly Act[][] = [mail, job('processInbox'), job('processInbox')]

const stories: Record<string, readonly (readonly Act[])[]> = {
  'credits are bought': [buy(0, 'credits'), buy(0, 'credits'), pay(0), waitFor(0), waitFor(0)],
  'a plan is bought, and told of by mail': [
    ...[buy(0, 'gold'), buy(0, 'gold'), pay(0)],
    ...[mail, job('processInbox'), job('processInbox')],
  ],
  'a customer is asked by the bank': [
    ...[buy(0, 'gold'), buy(0, 'gold'), pay(0, 'pm_card_authenticationRequired'), waitFor(0)],
    ...[[{ do: 'answer the bank', slot: 0, isAccepted: true } as const], waitFor(0), waitFor(0)],
  ],
  'one plan is paid twice, and once given back': [
    ...[buy(0, 'gold'), buy(0, 'gold'), buy(1, 'gold'), buy(1, 'gold'), pay(0), pay(1)],
    ...[waitFor(0), waitFor(1), waitFor(0), waitFor(1), job('reconcilePayments')],
  ],
  'nobody knows of a payment any more, and two look for it at once': [
    [{ do: 'go wrong', kind: 'hang_before', path: '/v1/payment_intents', times: 2 }],
    ...[buy(0, 'credits'), [{ do: 'pass', minutes: 25 * 60 } as const]],
    ...[[...job('reconcilePayments'), ...buy(0, 'credits')], buy(0, 'credits'), pay(0), waitFor(0)],
  ],
  'a plan is paid while another one is open, which is withdrawn': [
    ...[buy(0, 'gold'), buy(0, 'gold'), buy(1, 'silver'), buy(1, 'silver'), pay(0)],
    ...[waitFor(0), waitFor(0), job('reconcilePayments'), pay(1)],
  ],
  'credits run out, and are bought again': [
    ...[buy(0, 'credits that refill'), buy(0, 'credits that refill'), pay(0), waitFor(0)],
    ...[waitFor(0), [{ do: 'use credits' } as const], job('rechargeWallets')],
    ...[job('rechargeWallets'), [{ do: 'pass', minutes: 2 } as const], job('reconcilePayments')],
  ],
  'credits run out, and the card is turned down': [
    ...[buy(0, 'credits that refill'), buy(0, 'credits that refill')],
    ...[pay(0, 'pm_card_authenticationRequired')],
    ...[[{ do: 'answer the bank', slot: 0, isAccepted: true } as const], waitFor(0), waitFor(0)],
    ...[[{ do: 'use credits' } as const], job('rechargeWallets'), job('rechargeWallets')],
  ],
  'a plan is renewed': [
    ...[buy(0, 'gold'), buy(0, 'gold'), pay(0), waitFor(0), waitFor(0), month],
    ...[job('bill'), job('bill'), mail, job('processInbox')],
  ],
  'a plan is to be renewed, and the bank wants its holder': [
    ...[buy(0, 'gold'), buy(0, 'gold'), pay(0, 'pm_card_authenticationRequired')],
    ...[[{ do: 'answer the bank', slot: 0, isAccepted: true } as const], waitFor(0), waitFor(0)],
    ...[month, job('bill'), job('bill'), mail, job('processInbox')],
  ],
  'a renewal is paid back': [
    ...[...bought('gold'), month, job('bill'), job('bill'), refund('newest'), ...told],
  ],
  'a card has expired, and another one is entered': [
    ...[...bought('gold'), enter('pm_card_simulator_expired'), ...told, month, job('bill')],
    ...[[{ do: 'go wrong', kind: 'error_before', path: '/v1/customers/:id', times: 1 } as const]],
    ...[enter(visa), enter(visa), ...told, job('bill'), job('bill')],
  ],
  'a renewal that could not be charged is paid by its customer': [
    ...[...bought('gold'), enter('pm_card_chargeCustomerFail'), ...told, month, job('bill')],
    ...[openDebt(1), openDebt(1), pay(1), waitFor(1), waitFor(1), job('bill')],
  ],
  'usage is billed without a card, and its customer pays the bill': [
    ...[[{ do: 'take', plan: 'pay as you go' } as const], use(700)],
    ...[[{ do: 'take', plan: 'pay as you go' } as const], use(80), month, job('bill'), job('bill')],
    ...[openDebt(0), openDebt(0), pay(0), waitFor(0), waitFor(0)],
  ],
  'a plan that waits for its payment is cancelled': [
    ...[...bought('gold'), enter('pm_card_chargeCustomerFail'), ...told, month, job('bill')],
    ...[[{ do: 'cancel' } as const], [{ do: 'cancel' } as const], job('bill')],
  ],
  'usage is billed, and what came late with the next bill': [
    ...[...bought('metered'), use(700), month, job('bill'), job('bill'), use(80, 5)],
    ...[month, job('bill'), job('bill')],
  ],
  'the price and the usage are one invoice': [
    ...[...bought('combined'), use(700), month, job('bill'), job('bill'), ...told],
  ],
  'usage that is paid afterwards is billed to the card': [
    ...[enter(visa), enter(visa), ...told],
    ...[[{ do: 'take', plan: 'pay as you go' } as const], use(700)],
    ...[[{ do: 'take', plan: 'pay as you go' } as const], use(80), month, job('bill'), job('bill')],
  ],
  'a plan is changed, and the rest of the period is paid': [
    ...[...bought('silver'), [{ do: 'pass', minutes: 9 * 24 * 60 } as const]],
    ...[buy(1, 'gold'), buy(1, 'gold'), pay(1), waitFor(1), waitFor(1), month, job('bill')],
  ],
  'a plan is changed for a cheaper one, and the next invoice is less': [
    ...[...bought('gold'), [{ do: 'pass', minutes: 9 * 24 * 60 } as const]],
    ...[[{ do: 'take', plan: 'silver' } as const], [{ do: 'take', plan: 'silver' } as const]],
    ...[month, job('bill'), job('bill')],
  ],
  'credits that are paid back are taken back, and given back where the bank does not': [
    ...[...bought('credits'), [{ do: 'use credits' } as const]],
    ...[[{ do: 'refund', slot: 0, isPart: true } as const], ...told, job('takeBackCredits')],
    ...[job('takeBackCredits'), [{ do: 'dispute', slot: 0 } as const], ...told],
    ...[job('takeBackCredits'), [{ do: 'end the dispute', ending: 'won' } as const], ...told],
    ...[[{ do: 'pass', minutes: 1 } as const], job('takeBackCredits'), job('takeBackCredits')],
  ],
  'the tax is added': [
    ...[buy(0, 'credits'), buy(0, 'credits')],
    ...[[{ do: 'tell where one is', slot: 0, country: 'SE' } as const], pay(0), waitFor(0)],
    waitFor(0),
  ],
  'a plan is paid back': [
    ...[buy(0, 'gold'), buy(0, 'gold'), pay(0), waitFor(0), waitFor(0)],
    ...[refund(), ...told],
  ],
  'a bank takes back what could not be given, and nobody refunds it besides': [
    ...[buy(0, 'credits'), buy(0, 'credits'), [{ do: 'leave' } as const], pay(0)],
    ...[[{ do: 'dispute', slot: 0 } as const], mail, job('processInbox')],
    ...[job('reconcilePayments'), [{ do: 'end the dispute', ending: 'lost' } as const], mail],
    ...[job('processInbox'), [{ do: 'pass', minutes: 300 } as const], job('reconcilePayments')],
  ],
  'a customer leaves, and what was used is billed and charged before': [
    ...[enter(visa), enter(visa), ...told],
    ...[[{ do: 'take', plan: 'pay as you go' } as const], use(700)],
    ...[settle('bill_now'), settle('bill_now'), settle('bill_now'), ...told],
  ],
  'a customer leaves whose card is declined, and pays with another one': [
    ...[...bought('metered'), use(4_000), enter('pm_card_chargeCustomerFail'), ...told],
    ...[settle('bill_now'), settle('bill_now'), enter(visa), enter(visa), ...told],
    ...[settle('bill_now'), settle('bill_now'), ...told],
  ],
  'a customer leaves, and what is owed is given up': [
    ...[...bought('metered'), use(4_000), enter('pm_card_chargeCustomerFail'), ...told],
    ...[settle('bill_now'), settle('bill_now'), use(700), settle('write_off')],
    ...[settle('write_off'), settle('write_off'), ...told],
  ],
  'a customer leaves, and its credits are forfeited': [
    ...[...bought('credits'), [{ do: 'use credits' } as const], settle('write_off')],
    ...[settle('write_off'), settle('write_off'), ...told],
  ],
  'a customer leaves, and pays all the same': [
    ...[buy(0, 'gold'), buy(0, 'gold'), [{ do: 'leave' } as const], pay(0)],
    ...[mail, job('processInbox'), job('reconcilePayments'), job('reconcilePayments')],
  ],
}

/** What must happen in a story, because the story would otherwise test nothing. */
const shown: Readonly<Record<string, readonly Happening[]>> = {
  'one plan is paid twice, and once given back': ['payment that was paid back'],
  'credits run out, and are bought again': ['automatic top-up'],
  'a plan is renewed': ['renewal that was paid'],
  'a renewal is paid back': ['invoice that was refunded'],
  'a card has expired, and another one is entered': ['invoice that was paid after that'],
  'a renewal that could not be charged is paid by its customer': [
    'invoice that was paid after that',
  ],
  'usage is billed without a card, and its customer pays the bill': ['bill of usage that was paid'],
  'usage is billed, and what came late with the next bill': [
    ...(['bill of usage that was paid', 'line of late usage'] as const),
  ],
  'the price and the usage are one invoice': ['bill of both'],
  'usage that is paid afterwards is billed to the card': ['bill of usage that was paid'],
  'a customer leaves, and what was used is billed and charged before': [
    ...(['bill of usage that was paid', 'customer that was deleted'] as const),
  ],
  'a customer leaves whose card is declined, and pays with another one': [
    ...(['bill of usage that was paid', 'customer that was deleted'] as const),
  ],
  'a customer leaves, and what is owed is given up': [
    ...(['invoice that is uncollectible', 'usage that was written off'] as const),
    'customer that was deleted',
  ],
  'a customer leaves, and its credits are forfeited': [
    ...(['credits that were forfeited', 'customer that was deleted'] as const),
  ],
  'a plan is changed, and the rest of the period is paid': ['change of plan that was paid'],
  'a plan is changed for a cheaper one, and the next invoice is less': [
    ...(['change of plan that was credited', 'renewal that was paid'] as const),
  ],
  'credits that are paid back are taken back, and given back where the bank does not': [
    'credits given back',
  ],
}

test.concurrent.each(Object.keys(stories))('%s', { timeout: 3_600_000 }, (name) =>
  lanes.run(async (stores) => {
    const acts = stories[name]!
    const { steps, happened } = await tellStory(stores, { deaths: [], acts })
    expect((shown[name] ?? []).filter((happening) => happened[happening] === 0)).toEqual([])
    const failures: string[] = []
    const deaths = someOf(deathsAt(steps))
    for (const death of deaths) {
      try {
        const told = await tellStory(stores, { deaths: [death], acts })
        expect(told.deaths).toBe(1)
      } catch (error) {
        failures.push(
          `${steps[Number(death.atStep) - 1]} ${JSON.stringify(death)}: ${String(error)}`,
        )
      }
    }
    expect(failures).toEqual([])
    if (asked !== undefined) console.log(`${name}: ${deaths.length} deaths`)
  }),
)

function someOf(deaths: readonly Death[]): readonly Death[] {
  const apart = Math.max(deaths.length / deathsMax, 1)
  return deaths.filter((_, index) => index % apart < 1)
}

function deathsAt(steps: readonly string[]): Death[] {
  return steps.flatMap((step, index) => {
    const dying = { atStep: index + 1, sendsLast: false }
    const isCall = /^before (create|change|cancel|ensure|confirm)/.test(step)
    return isCall ? [dying, { ...dying, sendsLast: true }] : [dying]
  })
}
