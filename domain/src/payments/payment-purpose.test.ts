import { expect, test } from 'vitest'
import { endsWhenDeclined, paysInvoice, purposeOf } from './payment-purpose.ts'

const planSwitch = { fromPurchaseRef: 'pur_1', changedAt: '2026-01-01T00:00:00Z', isFirst: false }
const sale = { purpose: 'product', planSwitch: null, paymentMethodId: null } as const
const topUp = { purpose: 'credit_topup', planSwitch: null, paymentMethodId: null } as const
const debt = { purpose: 'usage_billing', planSwitch: null, paymentMethodId: 'pm_1' } as const

test.each([
  [sale, false, 'first-sale', { isOwed: false, endsDeclined: false }],
  [{ ...sale, planSwitch }, false, 'plan-change', { isOwed: false, endsDeclined: false }],
  [topUp, false, 'top-up', { isOwed: false, endsDeclined: false }],
  [
    { ...topUp, paymentMethodId: 'pm_1' },
    false,
    'auto-recharge',
    { isOwed: false, endsDeclined: true },
  ],
  [debt, true, 'renewal', { isOwed: true, endsDeclined: false }],
  [debt, false, 'usage', { isOwed: true, endsDeclined: false }],
  [{ ...debt, paymentMethodId: null }, true, 'renewal', { isOwed: true, endsDeclined: false }],
] as const)(
  'reads %j, charging a period %j, as %s',
  (intent, chargesPeriod, purpose, { isOwed, endsDeclined }) => {
    expect(purposeOf(intent, chargesPeriod)).toBe(purpose)
    expect(paysInvoice(intent)).toBe(isOwed)
    expect(endsWhenDeclined(intent)).toBe(endsDeclined)
  },
)
