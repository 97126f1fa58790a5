import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChargeInvoice, InvoiceCharge } from '@tollgate/domain/charging/charge-invoice'
import { listInvoices, lockInvoice } from '@tollgate/domain/invoices/repository'
import { payInvoice } from '@tollgate/domain/invoices/settle-invoice'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { startRunnerStack, type RunnerStack, type Shop } from './runner-stack.ts'

/* Tests renewals and trials with a price. The test decides the outcome of each charge. */

let stack: RunnerStack
let shop: Shop
let requested: InvoiceCharge[]

beforeAll(async () => {
  stack = await startRunnerStack()
})
afterAll(() => stack.stop())
beforeEach(async () => {
  stack.clock.set('2026-01-31T12:00:00Z')
  shop = await stack.openShop()
  requested = []
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
  requested.push(charge)
  await pay(charge)
  return { kind: 'paid' }
}
const declining =
  (isFinal: boolean): ChargeInvoice =>
  async (charge) => {
    requested.push(charge)
    return { kind: 'declined', isFinal, failure: `${charge.invoiceRef}:${requested.length}` }
  }

const monthly = { price: 1_900, setupFee: 500, billingCycle: 'monthly' } as const
const now = ({ reference }: Purchase) => stack.purchase(shop, reference)
const emittedTypes = async (): Promise<string[]> =>
  (await stack.events(shop, /^purchase\.(?!created)/)).map(({ type }) => type)
const invoices = async () =>
  (await listInvoices(stack.database.in('sandbox'), shop.providerId, {}, { limit: 10, offset: 0 }))
    .invoices

describe('a renewal that costs something', () => {
  let purchase: Purchase

  beforeEach(async () => {
    purchase = await stack.buy(shop, await stack.addPlan(shop, monthly))
  })

  test('begins the period once, when it is paid, without the setup fee', async () => {
    const at = '2026-03-01T10:00:00Z'
    await stack.runJob('renewals', at, paying)
    await stack.runJob('renewals', at, paying)
    expect(requested).toHaveLength(1)
    expect(await now(purchase)).toMatchObject({
      status: 'active',
      nextBillingDate: new Date('2026-03-31T12:00:00Z'),
      paidAt: new Date(at),
    })
    expect(await emittedTypes()).toEqual(['purchase.renewed'])
    expect(await invoices()).toMatchObject([
      { number: 1n, status: 'paid', totalMinor: 1_900n, paidMinor: 1_900n },
    ])
  })

  test('keeps one open invoice if no payment processor is configured', async () => {
    await stack.runJob('renewals', '2026-03-01T10:00:00Z')
    await stack.runJob('renewals', '2026-03-02T10:00:00Z')
    expect(await invoices()).toMatchObject([{ number: 1n, status: 'open', totalMinor: 1_900n }])
    expect(await emittedTypes()).toEqual([])
    await stack.runJob('renewals', '2026-03-03T10:00:00Z', paying)
    expect(await invoices()).toMatchObject([{ status: 'paid' }])
    expect(await emittedTypes()).toEqual(['purchase.renewed'])
  })

  test('settles a charge after a crash of the runner, without charging again', async () => {
    const dying: ChargeInvoice = async (charge, commit) => {
      await paying(charge, commit)
      throw new Error('died')
    }
    const once = { TOLLGATE_BILLING_TRIES_MAX: '1' }
    await stack.runJob('renewals', '2026-03-01T10:00:00Z', dying, once)
    expect(await emittedTypes()).toEqual([])
    await stack.runJob('renewals', '2026-03-01T10:05:00Z', paying, once)
    expect(requested).toHaveLength(1)
    expect(await emittedTypes()).toEqual(['purchase.renewed'])
  })

  test('waits while its charge is pending', async () => {
    await stack.runJob('renewals', '2026-03-01T10:00:00Z', async () => ({ kind: 'pending' }))
    expect(await emittedTypes()).toEqual([])
    expect(await now(purchase)).toMatchObject({ status: 'active', retryCount: 0 })
  })

  test('waits for the next slot after a failed charge', async () => {
    const failing: ChargeInvoice = async (charge) => {
      if (requested.length === 5) throw new Error('asked over and over')
      requested.push(charge)
      return { kind: 'declined', isFinal: false, failure: 'the first' }
    }
    await stack.runJob('renewals', '2026-03-01T10:00:00Z', failing)
    const totals = await stack.runJob('payment-retries', '2026-03-01T15:00:00Z', failing)
    expect(totals).toEqual(new Map([['postponed', 1]]))
    expect(requested).toHaveLength(2)
    expect(await invoices()).toMatchObject([{ failedCharges: 1 }])
  })

  test('retries a declined charge after 5 hours, 1 day and 3 days, then suspends the purchase', async () => {
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
    expect(requested).toHaveLength(4)
    expect(new Set(requested.map(({ invoiceRef }) => invoiceRef)).size).toBe(1)
    expect(await now(purchase)).toMatchObject({ status: 'suspended', nextRetryAt: null })
    expect(await emittedTypes()).toEqual(['purchase.past_due', 'purchase.suspended'])
  })

  test('keeps its billing date if a declined charge is paid later', async () => {
    await stack.runJob('renewals', '2026-03-01T10:00:00Z', declining(false))
    await stack.runJob('payment-retries', '2026-03-01T15:00:00Z', paying)
    expect(await now(purchase)).toMatchObject({
      status: 'active',
      retryCount: 0,
      nextRetryAt: null,
      nextBillingDate: new Date('2026-03-31T12:00:00Z'),
    })
    expect(await emittedTypes()).toEqual(['purchase.past_due', 'purchase.renewed'])
  })

  test('does not retry a charge that was declined for good', async () => {
    await stack.runJob('renewals', '2026-03-01T10:00:00Z', declining(true))
    expect(await now(purchase)).toMatchObject({ status: 'suspended' })
    expect(await emittedTypes()).toEqual(['purchase.past_due', 'purchase.suspended'])
  })
})

test('carries over an amount below the minimum charge and begins the period', async () => {
  const plan = await stack.addPlan(shop, { price: 20, billingCycle: 'monthly' })
  const purchase = await stack.buy(shop, plan)
  await stack.runJob('renewals', '2026-03-01T10:00:00Z', paying)
  expect(requested).toEqual([])
  expect(await invoices()).toMatchObject([{ status: 'paid', totalMinor: 20n, carriedMinor: 20n }])
  expect((await now(purchase)).nextBillingDate).toEqual(new Date('2026-03-31T12:00:00Z'))
})

describe('the end of a trial', () => {
  let purchase: Purchase

  beforeEach(async () => {
    purchase = await stack.startTrial(
      shop,
      await stack.addPlan(shop, { ...monthly, trialDays: 14 }),
    )
    await stack.saveCard(shop, purchase.customerRef)
  })

  test('charges the first period with the setup fee', async () => {
    await stack.runJob('trial-expiry', '2026-02-15T08:00:00Z', paying)
    expect(requested).toMatchObject([{ amountMinor: 2_400n, currency: 'USD' }])
    expect(await emittedTypes()).toEqual(['purchase.trial_converted'])
    expect(await now(purchase)).toMatchObject({
      status: 'active',
      nextBillingDate: new Date('2026-03-14T12:00:00Z'),
    })
  })

  test('suspends the purchase if the charge is declined', async () => {
    await stack.runJob('trial-expiry', '2026-02-15T08:00:00Z', declining(false))
    expect(await emittedTypes()).toEqual(['purchase.suspended'])
    expect(await now(purchase)).toMatchObject({ status: 'suspended' })
  })
})
