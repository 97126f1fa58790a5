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
])('%s', async (_, hours, sequence) => {
  expect(await playBatch(stores, [sequence], hours)).toEqual([])
})
