import { afterAll, expect, test } from 'vitest'
import { Lanes } from './lanes.ts'
import type { Crash } from './crashing-process.ts'
import type { Act } from './story.ts'
import { runStory } from './run-story.ts'

/*
 * A customer pays an unpaid invoice. The process dies at each of its steps from the moment the payment is opened, in particular
 * between the commit of the payment and the call that creates it at the processor. That call arrives or not. The customer repeats
 * the request, and the invoice is paid once.
 */

const lanes = await Lanes.open(1)
afterAll(() => lanes.stop())

const take: Act[] = [{ do: 'take', plan: 'pay as you go' }]
const bill: Act[] = [{ do: 'run', job: 'bill' }]
const openDebt: Act[] = [{ do: 'open the debt', slot: 0 }]
const waitFor: Act[] = [{ do: 'wait for', slot: 0 }]
const billed: Act[][] = [
  take,
  [{ do: 'use', units: 700, lateDays: 0 }],
  [{ do: 'pass', minutes: 32 * 24 * 60 }],
  bill,
  bill,
]
const paid: Act[][] = [
  openDebt,
  // Until it is known whether the call has arrived, the customer is asked to try again later.
  openDebt,
  [{ do: 'pass', minutes: 6 }],
  [{ do: 'run', job: 'reconcilePayments' }],
  openDebt,
  [{ do: 'pay', slot: 0, card: 'pm_card_visa' }],
  waitFor,
  waitFor,
]

test('keeps the invoice payable once if the process dies while it opens or books the payment', async () => {
  await lanes.run(async (stores) => {
    const before = (await runStory(stores, { crashes: [], acts: billed })).steps.length
    const acts = [...billed, ...paid]
    const { steps, happened } = await runStory(stores, { crashes: [], acts })
    expect(happened['bill of usage that was paid']).toBe(1)
    const call = steps.indexOf('before createPaymentIntent')
    // The payment and its attempt are committed, but the processor does not know them.
    expect(call).toBeGreaterThanOrEqual(before)
    expect(steps[call - 1]).toBe('after commit')

    const crashes: Crash[] = steps.flatMap((step, index) => {
      if (index < before) return []
      const crash = { atStep: index + 1, sendsPendingCall: false }
      return /^before (create|ensure|confirm)/.test(step)
        ? [crash, { ...crash, sendsPendingCall: true }]
        : [crash]
    })
    expect(crashes.length).toBeGreaterThan(6)
    for (const crash of crashes) {
      const where = `${steps[Number(crash.atStep) - 1]} ${JSON.stringify(crash)}`
      const result = await runStory(stores, { crashes: [crash], acts })
      expect([where, result.crashes, result.happened['bill of usage that was paid']]).toEqual([
        where,
        1,
        1,
      ])
    }
  })
}, 900_000)
