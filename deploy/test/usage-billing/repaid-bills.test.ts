import { decideOnInvoice } from '@tollgate/domain/invoice-decisions/decide-on-invoice'
import type { InvoiceChange } from '@tollgate/domain/invoice-decisions/invoice-decision'
import { readCarried } from '@tollgate/domain/invoices/carried-amounts'
import { applyRefund } from '@tollgate/domain/settlement/apply-refund'
import type { Refund } from '@tollgate/platform/payments/payment-objects'
import { recomputeInvoice } from '@tollgate/domain/invoices/recompute-invoice'
import { endNow } from '@tollgate/domain/purchases/move-purchase'
import { lockPurchase, type Purchase } from '@tollgate/domain/purchases/repository'
import { requestCorrection } from '@tollgate/domain/usage-corrections/request-correction'
import { expect, test } from 'vitest'
import { refundAtProcessor } from '../../../domain/test/refund-world.ts'
import { applyCorrections } from './apply-corrections.ts'
import { correctionOf } from './correction-of.ts'
import { payByCard } from './pay-by-card.ts'
import { postPaid, UsageShop } from './usage-shop.ts'

/* A bill is given up or refunded, its usage is corrected, and then the bill is paid after all. */

const usageShop = new UsageShop()

test.each<['active' | 'ended']>([['active'], ['ended']])(
  'returns what a written-off bill charged too much once it is paid, of an %s purchase',
  async (state) => {
    const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
    await usageShop.use(purchase, 300, '2026-02-10T00:00:00Z')
    await usageShop.bill('2026-02-28T13:00:00Z', usageShop.withDecliningCard)
    const [bill] = await usageShop.invoicesOf(purchase)
    const decide = (change: InvoiceChange): Promise<void> =>
      usageShop.runner.within(usageShop.shop, async (work) => {
        const request = { invoiceRef: bill!.reference, reason: 'decided', change }
        expect(await decideOnInvoice(work, request)).toMatchObject({ kind: 'decided' })
      })
    await decide({ kind: 'written_off' })
    if (state === 'ended') {
      await usageShop.runner.within(usageShop.shop, async (work) => {
        const locked = await lockPurchase(work.sql, work.providerId, purchase.reference)
        await endNow(work, locked!, 'expired')
      })
    }
    await takeUsageAway(purchase)
    for (const at of ['03-31T13:00:00Z', '05-15T00:00:00Z']) await usageShop.bill(`2026-${at}`)
    expect(await carriedOf(purchase)).toBe(0n)
    await decide({ kind: 'paid_outside', amountMinor: 100n })
    for (const at of ['05-31T13:00:00Z', '06-01T00:00:00Z']) await usageShop.bill(`2026-${at}`)
    expect(await carriedOf(purchase)).toBe(-100n)
    await decide({ kind: 'paid_outside' })
    for (const at of ['06-30T13:00:00Z', '07-31T13:00:00Z']) await usageShop.bill(`2026-${at}`)
    expect(await carriedOf(purchase)).toBe(-300n)
    for (const invoice of await usageShop.invoicesOf(purchase)) {
      expect(recomputeInvoice(invoice)).toEqual([])
    }
  },
)

test('returns what a refunded bill charged too much once its refund has failed', async () => {
  const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
  await usageShop.use(purchase, 300, '2026-02-10T00:00:00Z')
  await usageShop.bill('2026-02-28T13:00:00Z', usageShop.withDecliningCard)
  const [bill] = await usageShop.invoicesOf(purchase)
  const intentRef = await payByCard(usageShop, purchase, bill!.reference, 300n)
  const refund = refundAtProcessor(300n)
  const report = (status: Refund['status']): Promise<void> =>
    usageShop.runner.within(usageShop.shop, (work) =>
      applyRefund(work, intentRef, { ...refund, status }),
    )
  await report('succeeded')
  await takeUsageAway(purchase)
  await usageShop.bill('2026-03-31T13:00:00Z')
  expect(await carriedOf(purchase)).toBe(0n)
  await report('failed')
  await usageShop.bill('2026-04-30T13:00:00Z')
  expect(await carriedOf(purchase)).toBe(-300n)
})

async function takeUsageAway(purchase: Purchase): Promise<void> {
  const { runner, shop } = usageShop
  await runner.within(shop, (work) => requestCorrection(work, correctionOf(purchase, {})))
  await applyCorrections(runner, shop.providerId)
}

function carriedOf({ customerRef }: Purchase): Promise<bigint> {
  return usageShop.runner.within(usageShop.shop, ({ sql, providerId }) =>
    readCarried(sql, providerId, { customerRef, currency: 'USD' }),
  )
}
