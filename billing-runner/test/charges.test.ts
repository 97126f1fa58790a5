import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChargeInvoice, InvoiceCharge } from '@tollgate/domain/charging/charge-invoice'
import { listInvoices, lockInvoice } from '@tollgate/domain/invoices/repository'
import { payInvoice } from '@tollgate/domain/invoices/settle-invoice'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { startRunnerStack, type RunnerStack, type Shop } from './runner-stack.ts'

/* Renewals and trials that cost something, with a payment that a test decides about. */

let stack: RunnerStack
let shop: Shop
let asked: InvoiceCharge[]

beforeAll(async () => {
  stack = await startRunnerStack()
})
afterAll(() => stack.stop())
beforeEach(async () => {
  stack.clock.set('2026-01-31T12:00:00Z')
  shop = await stack.openShop()
  asked = []
  return async () => {
    await stack.database.in('sandbox')`update purchases set status = 'expired'`
    await stack.database.in('sandbox')`update invoices set next_charge_at = null`
  }
})

const pay = (charge: InvoiceCharge): Promise<void> =>
  stack.within(shop, async (work) => {
    const invoice = await lockInvoice(work.sql, work.providerId, charge.invoiceRef)
    const chargeRef = `ch_${charge.invoiceRef}`
    await payInvoice(work, invoice!, { chargeRef, amountMinor: charge.amountMinor })
  })

const paying: ChargeInvoice = async (charge) => {
  asked.push(charge)
  await pay(charge)
  return { kind: 'paid' }
}
const declining =
  (isFinal: boolean): ChargeInvoice =>
  async (charge) => {
    asked.push(charge)
    return { kind: 'declined', isFinal, failure: `${charge.invoiceRef}:${asked.length}` }
  }

const monthly = { price: 1_900, setupFee: 500, billingCycle: 'monthly' } as const
const now = ({ reference }: Purchase) => stack.purchase(shop, reference)
const told = async (): Promise<string[]> =>
  (await stack.events(shop, /^purchase\.(?!created)/)).map(({ type }) => type)
const invoices = async () =>
  (await listInvoices(stack.database.in('sandbox'), shop.providerId, {}, { limit: 10, offset: 0 }))
    .invoices

describe('a renewal that costs something', () => {
  let purchase: Purchase

  beforeEach(async () => {
    purchase = await stack.buy(shop, await stack.addPlan(shop, monthly))
  })

  test('begins when it is paid, once, without the set-up fee', async () => {
    const at = '2026-03-01T10:00:00Z'
    await stack.runJob('renewals', at, paying)
    await stack.runJob('renewals', at, paying)
    expect(asked).toHaveLength(1)
    expect(await now(purchase)).toMatchObject({
      status: 'active',
      nextBillingDate: new Date('2026-03-31T12:00:00Z'),
      paidAt: new Date(at),
    })
    expect(await told()).toEqual(['purchase.renewed'])
    expect(await invoices()).toMatchObject([
      { number: 1n, status: 'paid', totalMinor: 1_900n, paidMinor: 1_900n },
    ])
  })

  test('has one invoice that waits as long as nobody can charge', async () => {
    await stack.runJob('renewals', '2026-03-01T10:00:00Z')
    await stack.runJob('renewals', '2026-03-02T10:00:00Z')
    expect(await invoices()).toMatchObject([{ number: 1n, status: 'open', totalMinor: 1_900n }])
    expect(await told()).toEqual([])
    await stack.runJob('renewals', '2026-03-03T10:00:00Z', paying)
    expect(await invoices()).toMatchObject([{ status: 'paid' }])
    expect(await told()).toEqual(['purchase.renewed'])
  })

  test('that is charged, and not settled because the runner died, is settled by the next without another charge', async () => {
    const dying: ChargeInvoice = async (charge, commit) => {
      await paying(charge, commit)
      throw new Error('died')
    }
    const once = { TOLLGATE_BILLING_TRIES_MAX: '1' }
    await stack.runJob('renewals', '2026-03-01T10:00:00Z', dying, once)
    expect(await told()).toEqual([])
    await stack.runJob('renewals', '2026-03-01T10:05:00Z', paying, once)
    expect(asked).toHaveLength(1)
    expect(await told()).toEqual(['purchase.renewed'])
  })

  test('whose charge has not come to an end waits for it', async () => {
    await stack.runJob('renewals', '2026-03-01T10:00:00Z', async () => ({ kind: 'pending' }))
    expect(await told()).toEqual([])
    expect(await now(purchase)).toMatchObject({ status: 'active', retryCount: 0 })
  })

  test('whose failure was counted, and that cannot be tried again yet, waits for the next slot', async () => {
    const failing: ChargeInvoice = async (charge) => {
      if (asked.length === 5) throw new Error('asked over and over')
      asked.push(charge)
      return { kind: 'declined', isFinal: false, failure: 'the first' }
    }
    await stack.runJob('renewals', '2026-03-01T10:00:00Z', failing)
    const totals = await stack.runJob('payment-retries', '2026-03-01T15:00:00Z', failing)
    expect(totals).toEqual(new Map([['postponed', 1]]))
    expect(asked).toHaveLength(2)
    expect(await invoices()).toMatchObject([{ failedCharges: 1 }])
  })

  test('that is declined is tried again after 5 hours, a day and three days, then suspended', async () => {
    const due = ['2026-03-01T10:00:00Z', '2026-03-01T15:00:00Z', '2026-03-02T15:00:00Z']
    const [first, ...others] = [...due, '2026-03-05T15:00:00Z']
    await stack.runJob('renewals', first, declining(false))
    const [event] = await stack.events(shop, /past_due/)
    expect(event).toMatchObject({
      object: { status: 'past_due', retryCount: 1, nextRetryAt: Date.parse(due[1]!) / 1000 },
      previousAttributes: { status: 'active' },
    })
    for (const at of others) {
      const before = new Date(Date.parse(at) - 1_000).toISOString()
      await stack.runJob('payment-retries', before, declining(false))
      await stack.runJob('payment-retries', at, declining(false))
    }
    expect(asked).toHaveLength(4)
    expect(new Set(asked.map(({ invoiceRef }) => invoiceRef)).size).toBe(1)
    expect(await now(purchase)).toMatchObject({ status: 'suspended', nextRetryAt: null })
    expect(await told()).toEqual(['purchase.past_due', 'purchase.suspended'])
  })

  test('that is declined and then paid goes on where it would have', async () => {
    await stack.runJob('renewals', '2026-03-01T10:00:00Z', declining(false))
    await stack.runJob('payment-retries', '2026-03-01T15:00:00Z', paying)
    expect(await now(purchase)).toMatchObject({
      status: 'active',
      retryCount: 0,
      nextRetryAt: null,
      nextBillingDate: new Date('2026-03-31T12:00:00Z'),
    })
    expect(await told()).toEqual(['purchase.past_due', 'purchase.renewed'])
  })

  test('that is declined for good is not tried again', async () => {
    await stack.runJob('renewals', '2026-03-01T10:00:00Z', declining(true))
    expect(await now(purchase)).toMatchObject({ status: 'suspended' })
    expect(await told()).toEqual(['purchase.past_due', 'purchase.suspended'])
  })
})

test('what is too little to be charged is carried over, and the period begins', async () => {
  const plan = await stack.addPlan(shop, { price: 20, billingCycle: 'monthly' })
  const purchase = await stack.buy(shop, plan)
  await stack.runJob('renewals', '2026-03-01T10:00:00Z', paying)
  expect(asked).toEqual([])
  expect(await invoices()).toMatchObject([{ status: 'paid', totalMinor: 20n, carriedMinor: 20n }])
  expect((await now(purchase)).nextBillingDate).toEqual(new Date('2026-03-31T12:00:00Z'))
})

describe('the end of a trial', () => {
  let purchase: Purchase

  beforeEach(async () => {
    purchase = await stack.tryOut(shop, await stack.addPlan(shop, { ...monthly, trialDays: 14 }))
    await stack.keepCard(shop, purchase.customerRef)
  })

  test('charges the first period with the set-up fee', async () => {
    await stack.runJob('trial-expiry', '2026-02-15T08:00:00Z', paying)
    expect(asked).toMatchObject([{ amountMinor: 2_400n, currency: 'USD' }])
    expect(await told()).toEqual(['purchase.trial_converted'])
    expect(await now(purchase)).toMatchObject({
      status: 'active',
      nextBillingDate: new Date('2026-03-14T12:00:00Z'),
    })
  })

  test('suspends where the charge is declined', async () => {
    await stack.runJob('trial-expiry', '2026-02-15T08:00:00Z', declining(false))
    expect(await told()).toEqual(['purchase.suspended'])
    expect(await now(purchase)).toMatchObject({ status: 'suspended' })
  })
})
