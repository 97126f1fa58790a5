import { readCarried } from '@tollgate/domain/invoices/carried-amounts'
import { lockInvoice } from '@tollgate/domain/invoices/repository'
import { payInvoice } from '@tollgate/domain/invoices/settle-invoice'
import { listUnbalancedInvoices } from '@tollgate/domain/money-ledger/unbalanced'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { afterEach, describe, expect, test } from 'vitest'
import { hybrid, postPaid, UsageShop } from './usage-shop.ts'

/* Invoices that could not be charged and are no longer retried. The last attempt is on 5 March. */

const usageShop = new UsageShop()
const retries = ['2026-03-01T05:00:00Z', '2026-03-02T05:00:00Z', '2026-03-05T05:00:00Z']
const quiet = '2026-05-04T04:59:59Z'
const givenUp = '2026-05-04T05:00:00Z'

let failures = 0
const declining = async ({ invoiceRef }: { readonly invoiceRef: string }) => {
  failures += 1
  return { kind: 'declined', isFinal: false, failure: `${invoiceRef}:${failures}` } as const
}

async function declineAllCharges(job: 'renewals' | 'usage-billing'): Promise<void> {
  await usageShop.runner.runJob(job, '2026-03-01T00:00:00Z', declining)
  for (const at of retries) await usageShop.runner.runJob('payment-retries', at, declining)
}

const writeOffs = (at: string) => usageShop.runner.runJob('write-offs', at)
const accounts = async (purchase: Purchase): Promise<Record<string, number>> => {
  const rows = await usageShop.runner.database.in('sandbox')<{ account: string; sum: string }[]>`
    select account, sum(amount) from ledger_entries
    where customer_ref = ${purchase.customerRef} and unit = 'USD'
    group by account having sum(amount) <> 0`
  return Object.fromEntries(rows.map(({ account, sum }) => [account, Number(sum)]))
}
const emittedEvents = async (): Promise<string[]> =>
  (await usageShop.runner.events(usageShop.shop, /^purchase\.(?!created)/)).map(({ type }) => type)

afterEach(async () => {
  expect(await listUnbalancedInvoices(usageShop.runner.database.in('sandbox'), 9)).toEqual([])
})

describe('an unpaid price of a period', () => {
  test('is void after 60 days, and the suspended purchase expires', async () => {
    const purchase = await usageShop.buy({ price: 1_900, billingCycle: 'monthly' })
    await declineAllCharges('renewals')
    expect(await writeOffs(quiet)).toEqual(new Map())
    expect(await usageShop.now(purchase)).toMatchObject({ status: 'suspended' })
    expect(await writeOffs(givenUp)).toEqual(new Map([['done', 1]]))
    expect(await writeOffs(givenUp)).toEqual(new Map())
    expect(await usageShop.now(purchase)).toMatchObject({
      status: 'expired',
      autoRenew: false,
      nextBillingDate: null,
      endedAt: new Date(givenUp),
    })
    expect(await usageShop.invoicesOf(purchase)).toMatchObject([{ status: 'void' }])
    expect(await accounts(purchase)).toEqual({})
    expect(await emittedEvents()).toEqual([
      'purchase.past_due',
      'purchase.suspended',
      'purchase.expired',
    ])
  })

  test('is kept as long as its invoice changes', async () => {
    const purchase = await usageShop.buy({ price: 1_900, billingCycle: 'monthly' })
    await declineAllCharges('renewals')
    await usageShop.runner.database.in('sandbox')`
      update invoices set next_charge_at = ${'2026-05-01T00:00:00Z'}
      where purchase_ref = ${purchase.reference}`
    await usageShop.runner.runJob('payment-retries', '2026-05-01T00:00:00Z', declining)
    expect(await writeOffs(givenUp)).toEqual(new Map())
    expect(await usageShop.now(purchase)).toMatchObject({ status: 'suspended' })
    expect(await writeOffs('2026-06-30T00:00:00Z')).toEqual(new Map([['done', 1]]))
  })

  test('is kept while it is retried or a person has to decide', async () => {
    const purchase = await usageShop.buy({ price: 1_900, billingCycle: 'monthly' })
    await usageShop.runner.runJob('renewals', '2026-03-01T00:00:00Z')
    const sql = usageShop.runner.database.in('sandbox')
    expect(await writeOffs('2027-03-01T00:00:00Z')).toEqual(new Map())
    await sql`update invoices set next_charge_at = null, is_held = true
      where purchase_ref = ${purchase.reference}`
    expect(await writeOffs('2027-03-01T00:00:00Z')).toEqual(new Map())
  })

  test('is kept while the period can still begin, and begins it when it is paid', async () => {
    const purchase = await usageShop.buy({ price: 1_900, billingCycle: 'monthly' })
    await usageShop.runner.runJob('renewals', '2026-03-01T00:00:00Z')
    await usageShop.runner.database.in('sandbox')`
      update invoices set next_charge_at = null where purchase_ref = ${purchase.reference}`
    expect(await writeOffs(givenUp)).toEqual(new Map([['postponed', 1]]))
    await usageShop.runner.runJob('renewals', givenUp, usageShop.paying)
    const invoices = await usageShop.invoicesOf(purchase)
    expect(invoices.map(({ status }) => status)).toEqual(['paid', 'paid', 'paid'])
    expect(await emittedEvents()).toEqual(Array(3).fill('purchase.renewed'))
  })
})

describe('unpaid usage', () => {
  test('is written off, and a later payment is booked against the write-off', async () => {
    const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
    await usageShop.use(purchase, 750, '2026-02-10T00:00:00Z')
    await declineAllCharges('usage-billing')
    await writeOffs(givenUp)
    expect(await usageShop.now(purchase)).toMatchObject({ status: 'expired' })
    const [invoice] = await usageShop.invoicesOf(purchase)
    expect(invoice).toMatchObject({ status: 'uncollectible', totalMinor: 750n, paidMinor: 0n })
    expect(await accounts(purchase)).toEqual({ revenue: -750, written_off: 750 })

    await usageShop.runner.within(usageShop.shop, async (work) => {
      const locked = await lockInvoice(work.sql, work.providerId, invoice!.reference)
      await payInvoice(work, locked!, { chargeRef: 'ch_late', amountMinor: 750n })
    })
    expect(await usageShop.invoicesOf(purchase)).toMatchObject([
      { status: 'paid', paidMinor: 750n },
    ])
    expect(await accounts(purchase)).toEqual({ revenue: -750, clearing: 750 })
    expect(await usageShop.now(purchase)).toMatchObject({ status: 'expired' })
  })

  test('is written off without the price of the next period on the same invoice', async () => {
    const purchase = await usageShop.buy({ ...hybrid, billingStrategy: 'combined' })
    await usageShop.use(purchase, 750, '2026-02-10T00:00:00Z')
    await declineAllCharges('usage-billing')
    await writeOffs(givenUp)
    expect(await usageShop.invoicesOf(purchase)).toMatchObject([
      { status: 'uncollectible', totalMinor: 5_650n, creditedMinor: 4_900n },
    ])
    expect(await accounts(purchase)).toEqual({ revenue: -750, written_off: 750 })
    const sql = usageShop.runner.database.in('sandbox')
    const name = { ...purchase, currency: 'USD' }
    expect(await readCarried(sql, usageShop.shop.providerId, name)).toBe(0n)
  })

  test('is written off after the purchase has ended, too', async () => {
    const purchase = await usageShop.buy(
      { ...postPaid, freeUnits: 0 },
      { endDate: new Date('2026-02-20T00:00:00Z') },
    )
    await usageShop.use(purchase, 750, '2026-02-10T00:00:00Z')
    await usageShop.runner.runJob('ended-purchases', '2026-02-20T00:00:00Z')
    await declineAllCharges('usage-billing')
    await writeOffs(givenUp)
    expect(await usageShop.invoicesOf(purchase)).toMatchObject([{ status: 'uncollectible' }])
    expect(await usageShop.now(purchase)).toMatchObject({
      endedAt: new Date('2026-02-20T00:00:00Z'),
    })
  })
})
