import { afterAll, expect, test } from 'vitest'
import { openStores } from '../money/stores.ts'
import { playBatch } from './play-batch.ts'
import type { Sequence } from './step.ts'

/* Sequences that broke a rule in the past. */

const stores = await openStores()
afterAll(() => stores.stop())

const card = 'pm_card_visa'

test.each<[string, readonly number[], Sequence]>([
  [
    'counts usage of a plan with its own period in the plan that its refund restores',
    [216, 384],
    [
      [
        { do: 'activate', plan: 'free' },
        { do: 'buy', plan: 'restart', card },
        { do: 'use', unitsMax: 30 },
        { do: 'refund', payment: 0, isPart: false },
      ],
      [{ do: 'use', unitsMax: 30 }],
    ],
  ],
  [
    'sells a plan for a credit that pays all of it',
    [1, 1],
    [
      [
        { do: 'buy', plan: 'gold', card },
        { do: 'decide', what: 'refunded to balance', isPart: false },
        { do: 'buy', plan: 'silver', card },
      ],
      [{ do: 'use', unitsMax: 30 }],
    ],
  ],
  [
    'returns to the balance what it has paid together with what the card has paid',
    [1, 1],
    [
      [
        { do: 'buy', plan: 'hybrid', card },
        { do: 'decide', what: 'refunded to balance', isPart: false },
        { do: 'buy', plan: 'silver', card, coupon: 'a half' },
        { do: 'decide', what: 'refunded to balance', isPart: false },
      ],
      [],
    ],
  ],
  [
    'bills usage of a plan that was restored and then cancelled',
    [216, 1, 216],
    [
      [
        { do: 'save card', card },
        { do: 'activate', plan: 'dear' },
        { do: 'use', unitsMax: 1_000 },
        { do: 'buy', plan: 'silver', card },
      ],
      [
        { do: 'correct', place: 0.9, units: 0 },
        { do: 'refund', payment: 0, isPart: false },
      ],
      [{ do: 'correct', place: 0.9, units: 250 }, { do: 'cancel' }, { do: 'use', unitsMax: 1_000 }],
    ],
  ],
  [
    'credits corrected usage of a plan that a refund restores',
    [1, 216, 1],
    [
      [
        { do: 'save card', card },
        { do: 'activate', plan: 'committed' },
        { do: 'use', unitsMax: 1_000 },
        { do: 'buy', plan: 'restart', card },
      ],
      [
        { do: 'correct', place: 0.9, units: 0 },
        { do: 'use', unitsMax: 100 },
      ],
      [
        { do: 'correct', place: 0.9, units: 250 },
        { do: 'refund', payment: 0, isPart: false },
      ],
    ],
  ],
  [
    'credits a correction by what is kept of a refunded bill',
    [216, 20, 20],
    [
      [
        { do: 'save card', card },
        { do: 'activate', plan: 'cheap' },
        { do: 'use', unitsMax: 1_000 },
      ],
      [
        { do: 'backfill', place: 0.9, units: 200 },
        { do: 'correct', place: 0.9, units: 0 },
      ],
      [
        { do: 'decide', what: 'refunded to balance', isPart: true },
        { do: 'use', unitsMax: 30 },
        { do: 'decide', what: 'refunded to card', isPart: true },
      ],
    ],
  ],
  [
    'credits nothing of a bill that was refunded as a whole',
    [768, 216, 384],
    [
      [
        { do: 'save card', card },
        { do: 'activate', plan: 'cheap' },
        { do: 'use', unitsMax: 1_000 },
      ],
      [
        { do: 'correct', place: 0.9, units: 0 },
        { do: 'use', unitsMax: 100 },
        { do: 'decide', what: 'refunded to balance', isPart: false },
      ],
      [
        { do: 'correct', place: 0.9, units: 250 },
        { do: 'buy', plan: 'restart', card },
      ],
    ],
  ],
  [
    'discounts an add-on with the price of its period',
    [384, 384, 216],
    [
      [],
      [],
      [
        { do: 'buy', plan: 'silver', card },
        { do: 'set the support', quantity: 3, when: 'now' },
        { do: 'give a coupon', coupon: 'a fifth', isForPurchase: false },
      ],
    ],
  ],
  [
    'discounts an add-on that was chosen for the renewal',
    [20, 20, 768],
    [
      [],
      [{ do: 'buy', plan: 'gold', card, coupon: 'a half' }],
      [{ do: 'set the support', quantity: 2, when: 'renewal' }],
    ],
  ],
  [
    'bills usage of a plan without a limit before it changes to one with a limit',
    [216, 768, 768],
    [
      [
        { do: 'save card', card },
        { do: 'activate', plan: 'cheap' },
        { do: 'use', unitsMax: 1_000 },
        { do: 'schedule', plan: 'hybrid', billing: 'prorate', days: 0 },
      ],
      [
        { do: 'correct', place: 0.9, units: 0 },
        { do: 'activate', plan: 'cheap' },
        { do: 'withdraw the change' },
      ],
      [
        { do: 'correct', place: 0.9, units: 250 },
        { do: 'migrate', plan: 'hybrid', billing: 'keep_period' },
        { do: 'use', unitsMax: 1_000 },
      ],
    ],
  ],
  [
    'gives access between the settlement of an old period and the next renewal',
    [768, 768, 20],
    [
      [
        { do: 'buy', plan: 'hybrid', card },
        { do: 'save card', card: 'pm_card_simulator_expired' },
        { do: 'use', unitsMax: 1_000 },
      ],
      [{ do: 'decide', what: 'credited', isPart: true }, { do: 'pay debt' }],
      [
        { do: 'decide', what: 'credited', isPart: false },
        { do: 'correct', place: 0.9, units: 5 },
        { do: 'use', unitsMax: 1 },
      ],
    ],
  ],
  [
    'charges an agreed price from the next period on',
    [1, 768, 768],
    [
      [
        { do: 'buy', plan: 'silver', card },
        { do: 'agree on a price', plan: 'silver' },
        { do: 'use', unitsMax: 1_000 },
      ],
      [
        { do: 'buy', plan: 'gold', card },
        { do: 'use', unitsMax: 1_000 },
      ],
      [
        { do: 'agree on a price', plan: undefined },
        { do: 'buy', plan: 'gold', card },
        { do: 'use', unitsMax: 1_000 },
      ],
    ],
  ],
])('%s', async (_, hours, sequence) => {
  expect(await playBatch(stores, [sequence], hours)).toEqual([])
})
