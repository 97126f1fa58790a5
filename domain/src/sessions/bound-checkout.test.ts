import { expect, test } from 'vitest'
import { snapshotOfPlan } from '../../test/bought-plans.ts'
import type { Purchase } from '../purchases/repository.ts'
import { mayBoundCheckoutSell } from './bound-checkout.ts'

const now = new Date('2026-03-01T00:00:00Z')

const plans = {
  free: snapshotOfPlan('free', 0),
  otherFree: snapshotOfPlan('other-free', 0),
  paid: snapshotOfPlan('paid', 900),
  dearer: snapshotOfPlan('dearer', 1_900),
  byUse: snapshotOfPlan('by-use', 0, {}, { type: 'usage-based' }),
}
type Name = keyof typeof plans

test.each<[Name, Name | undefined, Purchase['status'], boolean]>([
  ['paid', undefined, 'active', true],
  ['free', undefined, 'active', true],
  ['paid', 'paid', 'past_due', true],
  ['paid', 'dearer', 'active', false],
  ['dearer', 'paid', 'trialing', false],
  ['dearer', 'paid', 'past_due', false],
  ['dearer', 'paid', 'suspended', false],
  ['dearer', 'paid', 'expired', true],
  ['dearer', 'paid', 'cancelled', true],
  ['paid', 'free', 'active', true],
  ['otherFree', 'free', 'active', false],
  ['free', 'paid', 'active', false],
  ['byUse', 'free', 'active', false],
  ['paid', 'byUse', 'active', false],
])(
  'decides whether a bound checkout sells %s next to %s in status %s: %s',
  (sold, held, status, isSold) => {
    const last =
      held === undefined
        ? undefined
        : { planRef: plans[held].reference, planSnapshot: plans[held], status, endDate: null }
    expect(mayBoundCheckoutSell(plans[sold], last, now)).toBe(isSold)
  },
)
