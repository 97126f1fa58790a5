import { addCarried, readCarried } from '@tollgate/domain/invoices/carried-amounts'
import { creditInvoice } from '@tollgate/domain/invoices/credit-notes'
import { recomputeInvoice } from '@tollgate/domain/invoices/recompute-invoice'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { expect, test } from 'vitest'
import { postPaid, UsageShop } from './usage-shop.ts'

/* Periods that cost nothing, with an invoice if the provider wants one, and without. */

const usageShop = new UsageShop()

const february = '2026-02-10T00:00:00Z'
const perCent = { ...postPaid, freeUnits: 0 }

function waiting({ customerRef, currency }: Purchase): Promise<bigint> {
  const pool = usageShop.runner.database.in('sandbox')
  return readCarried(pool, usageShop.shop.providerId, { customerRef, currency })
}

/** Returns the number of ledger transactions of the purchase's customer. */
async function postings({ customerRef }: Purchase): Promise<number> {
  const [row] = await usageShop.runner.database.in('sandbox')<[{ count: number }]>`
    select count(*)::int from ledger_transactions where customer_ref = ${customerRef}`
  return row.count
}

test('issues no invoice and charges nothing for a period that costs nothing', async () => {
  const purchase = await usageShop.buy(postPaid)
  await usageShop.use(purchase, 80, february)
  const postedBefore = await postings(purchase)
  await usageShop.bill('2026-03-01T00:00:00Z')
  expect(await usageShop.invoicesOf(purchase)).toEqual([])
  expect(usageShop.asked).toEqual([])
  expect(await postings(purchase)).toBe(postedBefore)
  expect(await usageShop.runner.events(usageShop.shop, /^(usage\.charged|invoice\.)/)).toEqual([])
  await usageShop.use(purchase, 150, '2026-03-10T00:00:00Z')
  await usageShop.bill('2026-04-01T00:00:00Z')
  expect(await usageShop.invoicesOf(purchase)).toMatchObject([{ number: 1n, totalMinor: 50n }])
})

test('prices late usage of a period without an invoice after the counted usage', async () => {
  const purchase = await usageShop.buy(postPaid)
  await usageShop.use(purchase, 80, february)
  await usageShop.bill('2026-02-28T13:00:00Z')
  await usageShop.useLate(purchase, 130, '2026-02-20T00:00:00Z')
  await usageShop.bill('2026-03-31T13:00:00Z')
  const [invoice, ...others] = await usageShop.invoicesOf(purchase)
  expect(others).toEqual([])
  expect(invoice).toMatchObject({
    number: 1n,
    totalMinor: 110n,
    lines: [
      { inputs: { kind: 'late_usage', usedUnits: '80', lateUnits: '130' }, amountMinor: 110n },
      { inputs: { kind: 'usage', usedUnits: '0' }, amountMinor: 0n },
    ],
  })
  expect(recomputeInvoice(invoice!)).toEqual([])
})

test('keeps a carried amount over a period that costs nothing', async () => {
  const purchase = await usageShop.buy(perCent)
  await usageShop.use(purchase, 30, february)
  await usageShop.bill('2026-03-01T00:00:00Z')
  await usageShop.bill('2026-04-01T00:00:00Z')
  expect(await waiting(purchase)).toBe(30n)
  await usageShop.use(purchase, 40, '2026-04-10T00:00:00Z')
  await usageShop.bill('2026-05-01T00:00:00Z')
  expect(await usageShop.invoicesOf(purchase)).toMatchObject([
    { number: 1n, totalMinor: 30n, carriedMinor: 30n },
    { number: 2n, totalMinor: 70n, paidMinor: 70n },
  ])
  expect(await waiting(purchase)).toBe(0n)
  expect(usageShop.asked).toMatchObject([{ amountMinor: 70n }])
})

test('charges a carried amount with a period that costs nothing once it is large enough', async () => {
  const purchase = await usageShop.buy(perCent)
  await usageShop.runner.within(usageShop.shop, ({ sql, providerId, now }) =>
    addCarried(sql, providerId, purchase, 60n, now),
  )
  await usageShop.bill('2026-03-01T00:00:00Z')
  expect(await usageShop.invoicesOf(purchase)).toMatchObject([{ totalMinor: 60n, paidMinor: 60n }])
  expect(await waiting(purchase)).toBe(0n)
})

test('keeps a credit note for the next invoice over a period that costs nothing', async () => {
  const purchase = await usageShop.buy(perCent)
  await usageShop.use(purchase, 100, february)
  await usageShop.bill('2026-03-01T00:00:00Z')
  const [invoice] = await usageShop.invoicesOf(purchase)
  await usageShop.runner.within(usageShop.shop, async (work) => {
    const lines = [{ line: 0, amountMinor: 100n }]
    const note = { lines, settles: 'balance', reason: null } as const
    expect((await creditInvoice(work, invoice!, note)).kind).toBe('credited')
  })
  await usageShop.bill('2026-04-01T00:00:00Z')
  expect(await waiting(purchase)).toBe(-100n)
  await usageShop.use(purchase, 160, '2026-04-10T00:00:00Z')
  await usageShop.bill('2026-05-01T00:00:00Z')
  expect(await usageShop.invoicesOf(purchase)).toMatchObject([
    { number: 1n },
    { number: 2n, totalMinor: 60n, paidMinor: 60n },
  ])
})

test('issues a zero invoice for a provider that wants them, and charges nothing', async () => {
  const purchase = await usageShop.buy(postPaid)
  await usageShop.issueZeroInvoices(true)
  await usageShop.use(purchase, 80, february)
  await usageShop.bill('2026-03-01T00:00:00Z')
  expect(await usageShop.invoicesOf(purchase)).toMatchObject([
    { number: 1n, status: 'paid', totalMinor: 0n },
  ])
  await usageShop.issueZeroInvoices(null)
  await usageShop.bill('2026-04-01T00:00:00Z')
  expect(await usageShop.invoicesOf(purchase)).toHaveLength(1)
  expect(usageShop.asked).toEqual([])
  expect(await usageShop.runner.events(usageShop.shop, /^usage\.charged$/)).toEqual([])
})
