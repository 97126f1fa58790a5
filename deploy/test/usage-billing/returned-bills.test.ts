import { billUsage } from '@tollgate/domain/billing/bill-usage'
import { measureUsage } from '@tollgate/domain/billing/measure-usage'
import { prepareUsageBill } from '@tollgate/domain/billing/prepare-usage-bill'
import { decideOnInvoice } from '@tollgate/domain/invoice-decisions/decide-on-invoice'
import type {
  DecisionOutcome,
  InvoiceChange,
} from '@tollgate/domain/invoice-decisions/invoice-decision'
import { readCarried } from '@tollgate/domain/invoices/carried-amounts'
import { recomputeInvoice } from '@tollgate/domain/invoices/recompute-invoice'
import { listUnbalancedInvoices } from '@tollgate/domain/money-ledger/unbalanced'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { applyDispute } from '@tollgate/domain/settlement/apply-dispute'
import { applyRefund } from '@tollgate/domain/settlement/apply-refund'
import { requestCorrection } from '@tollgate/domain/usage-corrections/request-correction'
import type { Dispute } from '@tollgate/platform/payments/payment-objects'
import { timestampPastMsMax } from '@tollgate/schemas/limits'
import { expect, test } from 'vitest'
import { refundAtProcessor } from '../../../domain/test/refund-world.ts'
import { applyCorrections } from './apply-corrections.ts'
import { seller } from './close-at.ts'
import { correctionOf } from './correction-of.ts'
import { payByCard } from './pay-by-card.ts'
import { postPaid, UsageShop } from './usage-shop.ts'

/*
 * A bill of 300 units at 1 cent, of which corrections leave less, is also given up, credited, refunded or disputed. Whatever comes first,
 * the customer gets back at most what the bill charged.
 */

const usageShop = new UsageShop()

let purchase: Purchase
let invoiceRef: string
let dates: string[]
let disputes = 0

async function bill(isPaid: 'paid' | 'open'): Promise<void> {
  dates = ['03-31', '04-30', '05-31', '06-30', '07-31', '08-31', '09-30', '10-31']
  purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
  await usageShop.use(purchase, 300, '2026-02-10T00:00:00Z')
  await usageShop.bill('2026-02-28T13:00:00Z', usageShop.withDecliningCard)
  invoiceRef = (await usageShop.invoicesOf(purchase))[0]!.reference
  if (isPaid === 'paid') await payByCard(usageShop, purchase, invoiceRef, 300n)
}

/** Corrects the usage to so many units, and makes the next bill. */
async function correctTo(units: number): Promise<void> {
  const { runner, shop } = usageShop
  const correction = correctionOf(purchase, {})
  await runner.within(shop, (work) =>
    requestCorrection(work, {
      ...correction,
      ...(units === 0 ? {} : { action: 'set', valueMicros: BigInt(units) * 1_000_000n }),
    }),
  )
  await applyCorrections(runner, shop.providerId)
  await nextBill()
}

function nextBill() {
  return usageShop.bill(`2026-${dates.shift()}T13:00:00Z`)
}

function decide(change: InvoiceChange): Promise<DecisionOutcome> {
  return usageShop.runner.within(usageShop.shop, (work) =>
    decideOnInvoice(work, { invoiceRef, reason: 'decided', change }),
  )
}

async function refundByWebhook(amountMinor: bigint): Promise<void> {
  await usageShop.runner.within(usageShop.shop, (work) =>
    applyRefund(work, `txn_${invoiceRef}`, refundAtProcessor(amountMinor)),
  )
}

/** Reports a dispute of the whole payment whose money the bank has withdrawn and returned in turn. */
async function dispute(status: Dispute['status'], movements: number): Promise<void> {
  const moved = Array.from({ length: movements }, (_, at) => (at % 2 === 0 ? -300n : 300n))
  await usageShop.runner.within(usageShop.shop, (work) =>
    applyDispute(work, `txn_${invoiceRef}`, {
      ...{ kind: 'dispute', id: `dp_returned_${disputes}`, status, amountMinor: 300n },
      ...{ currency: 'USD', reason: 'fraudulent', chargeId: 'ch_1', paymentIntentId: undefined },
      createdAt: new Date('2026-03-01T00:00:00Z'),
      movements: moved.map((amountMinor, at) => ({
        ...{ id: `txn_returned_${disputes}_${at}`, amountMinor, netMinor: amountMinor },
        ...{ feeMinor: 0n, currency: 'USD', restUnits: 0n },
      })),
    }),
  )
}

/** Returns the customer's balance. Minor units, and a credit is positive. */
async function balance(): Promise<number> {
  const { customerRef } = purchase
  const carried = await usageShop.runner.within(usageShop.shop, ({ sql, providerId }) =>
    readCarried(sql, providerId, { customerRef, currency: 'USD' }),
  )
  return -Number(carried) + 0
}

async function expectBalanced(): Promise<void> {
  for (const invoice of await usageShop.invoicesOf(purchase)) {
    expect(recomputeInvoice(invoice)).toEqual([])
  }
  const sql = usageShop.runner.database.in('sandbox')
  expect(await listUnbalancedInvoices(sql, 10)).toEqual([])
}

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
    disputes += 1
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

test('a bill is not issued if a refund has returned the usage since it was summed up', async () => {
  await bill('paid')
  const { runner, shop } = usageShop
  const correction = correctionOf(purchase, {})
  await runner.within(shop, (work) => requestCorrection(work, correction))
  await applyCorrections(runner, shop.providerId)
  runner.clock.set('2026-03-31T13:00:00Z')
  const delays = { graceMs: 3_600_000, lateMs: timestampPastMsMax }
  const prepared = await runner.within(shop, (work) =>
    prepareUsageBill(work, purchase.reference, delays),
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
