import { billUsage } from '@tollgate/domain/billing/bill-usage'
import { measureUsage } from '@tollgate/domain/billing/measure-usage'
import { prepareUsageBill } from '@tollgate/domain/billing/prepare-usage-bill'
import type { InvoiceChange } from '@tollgate/domain/invoice-decisions/invoice-decision'
import { addCarried } from '@tollgate/domain/invoices/carried-amounts'
import type { InvoiceLine } from '@tollgate/domain/pricing/invoice-line'
import { requestCorrection } from '@tollgate/domain/usage-corrections/request-correction'
import type { Dispute } from '@tollgate/platform/payments/payment-objects'
import { timestampPastMsMax } from '@tollgate/schemas/limits'
import { expect, test } from 'vitest'
import { applyCorrections } from './apply-corrections.ts'
import { BillReturns } from './bill-returns.ts'
import { seller } from './close-at.ts'
import { correctionOf } from './correction-of.ts'
import { payByCard } from './pay-by-card.ts'
import { postPaid, UsageShop } from './usage-shop.ts'

/*
 * A bill of 300 units at 1 cent, of which corrections leave less, is also given up, credited, refunded or disputed. Whatever comes first,
 * the customer gets back at most what the bill charged.
 */

const usageShop = new UsageShop()

let returns: BillReturns
let invoiceRef: string

async function bill(isPaid: 'paid' | 'open'): Promise<void> {
  const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
  returns = new BillReturns(usageShop, purchase)
  await usageShop.use(purchase, 300, '2026-02-10T00:00:00Z')
  await usageShop.bill('2026-02-28T13:00:00Z', usageShop.withDecliningCard)
  invoiceRef = (await usageShop.invoicesOf(purchase))[0]!.reference
  if (isPaid === 'paid') await payByCard(usageShop, purchase, invoiceRef, 300n)
}

const correctTo = (units: number) => returns.correctTo(units)
const nextBill = () => returns.nextBill()
const decide = (change: InvoiceChange) => returns.decide(invoiceRef, change)
const refundByWebhook = (amountMinor: bigint) => returns.refundByWebhook(invoiceRef, amountMinor)
const dispute = (status: Dispute['status'], movements: number) =>
  returns.dispute(invoiceRef, 300n, status, movements)
const balance = () => returns.balance()
const expectBalanced = () => returns.expectBalanced()

const givenUp = ['voided', 'written_off'] as const

test.each(givenUp)('a bill that is %s after its correction is returned once', async (kind) => {
  await bill('open')
  await correctTo(100)
  expect(await balance()).toBe(200)
  expect(await decide({ kind })).toMatchObject({ kind: 'decided' })
  expect(await balance()).toBe(0)
  await correctTo(0)
  expect(await balance()).toBe(0)
  await expectBalanced()
})

test.each(givenUp)('a bill that is %s before its correction is returned once', async (kind) => {
  await bill('open')
  await decide({ kind })
  await correctTo(100)
  expect(await balance()).toBe(0)
  await expectBalanced()
})

test('the credit of a correction returns as far as a written-off bill is paid after all', async () => {
  await bill('open')
  await decide({ kind: 'paid_outside', amountMinor: 50n })
  await correctTo(100)
  await decide({ kind: 'written_off' })
  expect(await balance()).toBe(50)
  await decide({ kind: 'paid_outside', amountMinor: 50n })
  await nextBill()
  expect(await balance()).toBe(100)
  await decide({ kind: 'paid_outside' })
  await nextBill()
  expect(await balance()).toBe(200)
  await expectBalanced()
})

test('a refund returns what a correction has left of the bill, and no more', async () => {
  await bill('paid')
  await correctTo(100)
  const toCard = { kind: 'refunded', goesTo: 'card' } as const
  expect(await decide({ ...toCard, amountMinor: 101n })).toEqual({
    kind: 'amount',
    leftMinor: 100n,
  })
  expect(await decide({ kind: 'credited', amountMinor: 101n })).toMatchObject({ kind: 'amount' })
  expect(await decide({ ...toCard, goesTo: 'balance' })).toMatchObject({
    decision: { amountMinor: 100n },
  })
  expect(await balance()).toBe(300)
  expect(await decide({ kind: 'credited' })).toMatchObject({ kind: 'amount' })
  await correctTo(0)
  expect(await balance()).toBe(300)
  await expectBalanced()
})

test('a correction after a partial refund returns the rest of the bill, and a later refund nothing', async () => {
  await bill('paid')
  await refundByWebhook(150n)
  await correctTo(50)
  expect(await balance()).toBe(150)
  expect(await decide({ kind: 'refunded', goesTo: 'balance' })).toMatchObject({ leftMinor: 0n })
  await refundByWebhook(150n)
  expect(await balance()).toBe(0)
  await expectBalanced()
})

test('a refund at the processor takes back what a correction has credited of the same money', async () => {
  await bill('paid')
  await correctTo(100)
  await refundByWebhook(250n)
  expect(await balance()).toBe(50)
  await refundByWebhook(50n)
  expect(await balance()).toBe(0)
  await correctTo(0)
  expect(await balance()).toBe(0)
  await expectBalanced()
})

test('a credit note of an open bill leaves the credit of a correction, which is no longer due', async () => {
  await bill('open')
  await correctTo(100)
  expect(await decide({ kind: 'credited', amountMinor: 101n })).toMatchObject({ kind: 'amount' })
  expect(await decide({ kind: 'credited' })).toMatchObject({ decision: { amountMinor: 100n } })
  await decide({ kind: 'paid_outside' })
  expect(await balance()).toBe(200)
  await expectBalanced()
})

test.each(['after', 'before'])(
  'a lost dispute %s a correction returns the bill once',
  async (order) => {
    await bill('paid')
    if (order === 'after') await correctTo(100)
    await dispute('needs_response', 1)
    expect(await balance()).toBe(0)
    if (order === 'before') await correctTo(100)
    await dispute('lost', 1)
    await nextBill()
    expect(await balance()).toBe(0)
    // The bank decides again.
    await dispute('won', 2)
    await nextBill()
    expect(await balance()).toBe(200)
    await dispute('lost', 3)
    await nextBill()
    expect(await balance()).toBe(0)
    await expectBalanced()
  },
)

test('a second credit of a period counts for the bill of late usage that it credits', async () => {
  await bill('paid')
  await correctTo(0)
  expect(await balance()).toBe(300)
  // The period is corrected again, because late usage is no longer looked for.
  await usageShop.useLate(returns.purchase, 400, '2026-02-11T00:00:00Z')
  const lateUsage = { fromMs: Date.parse('2026-02-11T00:00:00Z') }
  await returns.correctTo(500, lateUsage, usageShop.withDecliningCard)
  const invoices = await usageShop.invoicesOf(returns.purchase)
  const late = invoices.find(({ status }) => status === 'open')!
  // The balance pays 300 of the 500.
  await payByCard(usageShop, returns.purchase, late.reference, 200n)
  await correctTo(0)
  expect(await balance()).toBe(500)
  await returns.refundByWebhook(late.reference, 200n)
  expect(await balance()).toBe(300)
  await refundByWebhook(300n)
  expect(await balance()).toBe(0)
  await expectBalanced()
})

test('a refund whose credit was taken from the balance leaves the other bill of the period what it had', async () => {
  await bill('paid')
  await usageShop.useLate(returns.purchase, 200, '2026-02-11T00:00:00Z')
  await returns.nextBill(usageShop.withDecliningCard)
  const invoices = await usageShop.invoicesOf(returns.purchase)
  const late = invoices.find(({ status }) => status === 'open')!.reference
  await payByCard(usageShop, returns.purchase, late, 200n)
  // Both records have 50 units left, so 400 of 500 are credited.
  await correctTo(50)
  expect(await balance()).toBe(400)
  await returns.refundByWebhook(late, 200n)
  expect(await balance()).toBe(300)
  await refundByWebhook(300n)
  expect(await balance()).toBe(0)
  await expectBalanced()
})

test('a dispute of the other bill of the period leaves nothing there that a credit could have credited', async () => {
  await bill('paid')
  await usageShop.useLate(returns.purchase, 200, '2026-02-11T00:00:00Z')
  await returns.nextBill(usageShop.withDecliningCard)
  const invoices = await usageShop.invoicesOf(returns.purchase)
  const late = invoices.find(({ status }) => status === 'open')!.reference
  await payByCard(usageShop, returns.purchase, late, 200n)
  await correctTo(100)
  expect(await balance()).toBe(300)
  await returns.dispute(late, 200n, 'needs_response', 1)
  expect(await balance()).toBe(300)
  // The bank has all of the other bill, so the credit has returned all of this one.
  expect(await decide({ kind: 'refunded', goesTo: 'balance' })).toMatchObject({ leftMinor: 0n })
  await refundByWebhook(300n)
  expect(await balance()).toBe(0)
  await expectBalanced()
})

test.each(['written_off', 'refunded'] as const)(
  'a bill that was %s gets its credit back if the bill that held the credit is voided',
  async (kind) => {
    await bill(kind === 'refunded' ? 'paid' : 'open')
    await usageShop.useLate(returns.purchase, 400, '2026-03-10T00:00:00Z')
    const february = { toMs: Date.parse('2026-02-28T12:00:00Z') }
    await returns.correctTo(100, february, usageShop.withDecliningCard)
    const invoices = await usageShop.invoicesOf(returns.purchase)
    const holder = invoices.find(({ totalMinor }) => totalMinor === 200n)!
    if (kind === 'refunded') await refundByWebhook(300n)
    else await decide({ kind })
    expect(await balance()).toBe(-200)
    expect(await returns.decide(holder.reference, { kind: 'voided' })).toMatchObject({
      kind: 'decided',
    })
    expect(await balance()).toBe(0)
    expect(await decide({ kind: 'refunded', goesTo: 'balance' })).not.toMatchObject({
      kind: 'decided',
    })
    await expectBalanced()
  },
)

test('a bill that charges as much as it credits gets its credit back if the bill that held it is voided', async () => {
  const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
  returns = new BillReturns(usageShop, purchase)
  const { runner, shop } = usageShop
  const { customerRef } = purchase
  await usageShop.use(purchase, 200, '2026-02-10T00:00:00Z')
  await usageShop.bill('2026-02-28T13:00:00Z')
  // An amount of an earlier invoice makes the bill one that can be paid.
  await runner.within(shop, ({ sql, providerId, now }) =>
    addCarried(sql, providerId, { customerRef, currency: 'USD' }, 200n, now),
  )
  await usageShop.useLate(purchase, 200, '2026-03-10T00:00:00Z')
  const [february, march] = ['2026-02-28T12:00:00Z', '2026-03-31T12:00:00Z'].map(Date.parse)
  await returns.correctTo(0, { toMs: february! }, usageShop.withDecliningCard)
  const kinds = (lines: readonly InvoiceLine[]) =>
    lines.map(({ inputs, amountMinor }) => [inputs.kind, amountMinor])
  const credited = (await usageShop.invoicesOf(purchase)).at(-1)!
  expect(kinds(credited.lines)).toEqual([
    ['late_usage', -200n],
    ['usage', 200n],
    ['carried_in', 200n],
  ])
  await payByCard(usageShop, purchase, credited.reference, 200n)
  await usageShop.useLate(purchase, 500, '2026-04-10T00:00:00Z')
  const ofMarch = { fromMs: february!, toMs: march! }
  await returns.correctTo(0, ofMarch, usageShop.withDecliningCard)
  const holder = (await usageShop.invoicesOf(purchase)).at(-1)!
  expect(kinds(holder.lines)).toEqual([
    ['late_usage', -200n],
    ['usage', 500n],
  ])
  await returns.refundByWebhook(credited.reference, 200n)
  expect(await balance()).toBe(-200)
  expect(await returns.decide(holder.reference, { kind: 'voided' })).toMatchObject({
    kind: 'decided',
  })
  expect(await balance()).toBe(0)
})

test('a bill is not issued if a refund has returned the usage since it was summed up', async () => {
  await bill('paid')
  const { runner, shop } = usageShop
  const correction = correctionOf(returns.purchase, {})
  await runner.within(shop, (work) => requestCorrection(work, correction))
  await applyCorrections(runner, shop.providerId)
  runner.clock.set('2026-03-31T13:00:00Z')
  const delays = { graceMs: 3_600_000, lateMs: timestampPastMsMax }
  const prepared = await runner.within(shop, (work) =>
    prepareUsageBill(work, returns.purchase.reference, delays),
  )
  if (prepared.kind !== 'due') throw new Error(prepared.kind)
  const { toBill } = prepared
  const now = () => new Date(runner.clock.now())
  const parts = { ...runner.parts, now, storedWaitMs: 30_000 }
  const measured = await measureUsage(parts, 'sandbox', shop.providerId, toBill)
  await refundByWebhook(300n)
  const issue = () => runner.within(shop, (work) => billUsage(work, toBill, measured, seller))
  expect(await issue()).toEqual({ kind: 'changed' })
  await nextBill()
  expect(await balance()).toBe(0)
})
