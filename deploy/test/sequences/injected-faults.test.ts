import { afterAll, expect, test } from 'vitest'
import { openStores } from '../money/stores.ts'
import { playBatch } from './play-batch.ts'
import type { Sequence, Step } from './step.ts'

/* Wrong charges that are injected into the stored terms of a sequence, which its checks must find. */

const stores = await openStores()
afterAll(() => stores.stop())

const card = 'pm_card_visa'
const useAll: Step = { do: 'use', unitsMax: 1_000 }
const buySilver: Step = { do: 'buy', plan: 'silver', card }
const activate = (plan: 'cheap' | 'dear'): readonly Step[] => [
  { do: 'save card', card },
  { do: 'activate', plan },
]
const terms = 'update purchases set plan_snapshot = jsonb_set(plan_snapshot,'

/** Each case: the steps, what is changed after the first round, and the message of the check that finds it. */
const cases: readonly (readonly [string, Sequence, string, RegExp])[] = [
  [
    'a wrong price of a period',
    [[buySilver], [], []],
    `${terms} '{priceMinor}', '1901') where plan_snapshot ->> 'name' = 'silver'`,
    /1901 .*recurring.*expected 1901n to be 1900n/,
  ],
  [
    'a wrong price of an add-on',
    [[buySilver, { do: 'set the support', quantity: 3, when: 'now' }], [], []],
    `update purchases set plan_snapshot = jsonb_set(jsonb_set(plan_snapshot, '{priceMinor}', '4300'),
      '{terms,addOns,attached,0,price}', '800') where status = 'active'`,
    /2400 with .*recurring/,
  ],
  [
    'a price of units that is too low',
    [[...activate('dear'), useAll], [], []],
    `${terms} '{terms,creditsPerUnit}', '100') where status = 'active'`,
    /1000 used, 460 billed/,
  ],
  [
    'a price of units that is too high',
    [[...activate('dear'), useAll], [], []],
    `${terms} '{terms,creditsPerUnit}', '300') where status = 'active'`,
    /1000 used: expected 1380 to be less/,
  ],
  [
    'a bill of usage that is never made',
    [[...activate('dear'), useAll], [], []],
    'update purchases set next_usage_bill_at = null, usage_closes_at = null',
    /1000 used, 0 billed/,
  ],
  [
    'a wrong limit',
    [[buySilver], [{ do: 'set the support', quantity: 1, when: 'now' }, useAll], []],
    `${terms} '{terms,limit}', '101') where status = 'active'`,
    /since .*expected 101 to be less than or equal to 100/s,
  ],
  [
    'a wrong discount',
    [[{ ...buySilver, coupon: 'a fifth' }], [], []],
    "update coupons set percent_off = 21 where name = 'a fifth'",
    /dsc_.* expected 399n to be 380n/,
  ],
  [
    'a lost credit',
    [[buySilver, { do: 'decide', what: 'refunded to balance', isPart: false }], [], []],
    'update carried_amounts set amount = amount + 1 where amount < 0',
    /expected 1900n to be 1899n/,
  ],
]

test.each(cases)('finds %s', async (_, sequence, statement, message) => {
  const faults = await playBatch(stores, [sequence], [9 * 24, 32 * 24, 24], {
    afterRound: async (round, { sql, providerId }) => {
      if (round > 0) return
      const clause = statement.includes(' where ') ? 'and' : 'where'
      const { count } = await sql.unsafe(`${statement} ${clause} provider_id = $1`, [providerId])
      expect(count).toBe(1)
    },
  })
  expect(faults.map(({ error }) => error).join('\n')).toMatch(message)
})
