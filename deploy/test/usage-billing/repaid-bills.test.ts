import { decideOnInvoice } from '@tollgate/domain/invoice-decisions/decide-on-invoice'
import type { InvoiceChange } from '@tollgate/domain/invoice-decisions/invoice-decision'
import { readCarried } from '@tollgate/domain/invoices/carried-amounts'
import { recomputeInvoice } from '@tollgate/domain/invoices/recompute-invoice'
import { endNow } from '@tollgate/domain/purchases/move-purchase'
import { lockPurchase, type Purchase } from '@tollgate/domain/purchases/repository'
import { requestCorrection } from '@tollgate/domain/usage-corrections/request-correction'
import { expect, test } from 'vitest'
import { applyCorrections } from './apply-corrections.ts'
import { correctionOf } from './correction-of.ts'
import { postPaid, UsageShop } from './usage-shop.ts'

/* A bill is given up, its usage is corrected, and then the bill is paid after all. */

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
    await usageShop.runner.within(usageShop.shop, (work) =>
      requestCorrection(work, correctionOf(purchase, {})),
    )
    await applyCorrections(usageShop.runner, usageShop.shop.providerId)
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

function carriedOf({ customerRef }: Purchase): Promise<bigint> {
  return usageShop.runner.within(usageShop.shop, ({ sql, providerId }) =>
    readCarried(sql, providerId, { customerRef, currency: 'USD' }),
  )
}
