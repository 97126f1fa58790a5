import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Death } from './life.ts'
import type { Act, jobs } from './story.ts'
import { tellStory } from './tell-story.ts'
import { openStores, type Stores } from './stores.ts'

/*
 * The process dies once at each of its steps: before and after each of its commits, of its statements beside them, and of
 * its calls of the processor; the last call reaches the processor or not. The customer asks again where nobody answered.
 */

let stores: Stores

beforeAll(async () => {
  stores = await openStores()
})
afterAll(() => stores.stop())

const visa = 'pm_card_visa'
const buy = (slot: 0 | 1, ware: 'gold' | 'silver' | 'credits' | 'credits that refill'): Act[] => {
  return [{ do: 'buy', slot, ware }]
}
const pay = (slot: 0 | 1, card = visa): Act[] => [{ do: 'pay', slot, card }]
const waitFor = (slot: 0 | 1): Act[] => [{ do: 'wait for', slot }]
const mail: Act[] = [{ do: 'get mail', order: [], copies: 2 }]
const job = (name: (typeof jobs)[number]): Act[] => [{ do: 'run', job: name }]
const month: Act[] = [{ do: 'pass', minutes: 31 * 24 * 60 }]
const refund: Act[] = [{ do: 'refund', slot: 0, isPart: false }]

const stories: Record<string, readonly (readonly Act[])[]> = {
  'credits are bought': [buy(0, 'credits'), buy(0, 'credits'), pay(0), waitFor(0), waitFor(0)],
  'a plan is bought, and told of by mail': [
    ...[buy(0, 'gold'), buy(0, 'gold'), pay(0)],
    ...[mail, job('workOffInbox'), job('workOffInbox')],
  ],
  'a customer is asked by the bank': [
    ...[buy(0, 'gold'), buy(0, 'gold'), pay(0, 'pm_card_authenticationRequired'), waitFor(0)],
    ...[[{ do: 'answer the bank', slot: 0, isAccepted: true } as const], waitFor(0), waitFor(0)],
  ],
  'one plan is paid twice, and once given back': [
    ...[buy(0, 'gold'), buy(0, 'gold'), buy(1, 'gold'), buy(1, 'gold'), pay(0), pay(1)],
    ...[waitFor(0), waitFor(1), waitFor(0), waitFor(1), job('reconcilePayments')],
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
    ...[job('bill'), job('bill'), mail, job('workOffInbox')],
  ],
  'a plan is to be renewed, and the bank wants its holder': [
    ...[buy(0, 'gold'), buy(0, 'gold'), pay(0, 'pm_card_authenticationRequired')],
    ...[[{ do: 'answer the bank', slot: 0, isAccepted: true } as const], waitFor(0), waitFor(0)],
    ...[month, job('bill'), job('bill'), mail, job('workOffInbox')],
  ],
  'the tax is added': [
    ...[buy(0, 'credits'), buy(0, 'credits')],
    ...[[{ do: 'tell where one is', slot: 0, country: 'SE' } as const], pay(0), waitFor(0)],
    waitFor(0),
  ],
  'a plan is paid back': [
    ...[buy(0, 'gold'), buy(0, 'gold'), pay(0), waitFor(0), waitFor(0)],
    ...[refund, mail, job('workOffInbox'), job('workOffInbox')],
  ],
  'a bank takes back what could not be given, and nobody refunds it besides': [
    ...[buy(0, 'credits'), buy(0, 'credits'), [{ do: 'leave' } as const], pay(0)],
    ...[[{ do: 'dispute', slot: 0 } as const], mail, job('workOffInbox')],
    ...[job('reconcilePayments'), [{ do: 'end the dispute', ending: 'lost' } as const], mail],
    ...[job('workOffInbox'), [{ do: 'pass', minutes: 300 } as const], job('reconcilePayments')],
  ],
  'a customer leaves, and pays all the same': [
    ...[buy(0, 'gold'), buy(0, 'gold'), [{ do: 'leave' } as const], pay(0)],
    ...[mail, job('workOffInbox'), job('reconcilePayments'), job('reconcilePayments')],
  ],
}

/** Of each story, spread evenly over it; all where it has no more. */
const deathsMax = Number(process.env['TOLLGATE_TEST_MONEY_DEATHS'] ?? 3)

test.each(Object.keys(stories))(
  '%s',
  async (name) => {
    const acts = stories[name]!
    const { steps } = await tellStory(stores, { deaths: [], acts })
    const failures: string[] = []
    for (const death of someOf(deathsAt(steps))) {
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
  },
  600_000,
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
