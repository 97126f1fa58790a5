import { decideOnInvoice } from '@tollgate/domain/invoice-decisions/decide-on-invoice'
import type { InvoiceChange } from '@tollgate/domain/invoice-decisions/invoice-decision'
import { readCarried } from '@tollgate/domain/invoices/carried-amounts'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { deliverPack } from './add-pack.ts'
import { metered, ThresholdShop } from './threshold-shop.ts'

/* A bill within a period is given up or credited, and then the price of the period falls, because a pack pays for its usage. */

const shop = await ThresholdShop.start()
afterAll(() => shop.stop())
beforeEach(() => shop.open('2026-03-01T10:00:00Z'))

test.each<[InvoiceChange, boolean, bigint]>([
  [{ kind: 'voided' }, false, 0n],
  [{ kind: 'written_off' }, false, 0n],
  [{ kind: 'credited' }, false, 0n],
  [{ kind: 'credited' }, true, -1_202n],
  [{ kind: 'credited', amountMinor: 200n }, true, -1_202n],
  [{ kind: 'paid_outside' }, false, -1_202n],
  [{ kind: 'paid_outside', amountMinor: 400n }, false, -400n],
])('returns once what was paid of a bill, case %#', async (change, isPaid, carried) => {
  const purchase = await shop.alerts.buy(metered)
  await shop.use(purchase, 801, '2026-03-05T00:00:00Z')
  const card = isPaid ? shop.paying : shop.withDecliningCard
  await shop.measureAndBill('2026-03-05T00:01:00Z', card)
  const [bill] = await shop.invoicesOf(purchase)
  await shop.runner.within(shop.shop, async (work) => {
    const request = { invoiceRef: bill!.reference, reason: 'decided', change }
    expect(await decideOnInvoice(work, request)).toMatchObject({ kind: 'decided' })
    if (change.kind !== 'paid_outside' || change.amountMinor === undefined) return
    // The rest is written off, and what was paid is not given up with it.
    const rest = { ...request, change: { kind: 'written_off' } } as const
    expect(await decideOnInvoice(work, rest)).toMatchObject({ kind: 'decided' })
  })
  shop.runner.clock.set('2026-03-06T00:00:00Z')
  await deliverPack(shop, purchase, { units: 2_000 })
  for (const at of ['2026-04-01T11:00:00Z', '2026-05-01T11:00:00Z']) await shop.billPeriods(at)
  expect(
    await shop.runner.within(shop.shop, ({ sql, providerId }) =>
      readCarried(sql, providerId, { customerRef: purchase.customerRef, currency: 'USD' }),
    ),
  ).toBe(carried)
  expect(await shop.reconcile('2026-05-02T00:00:00Z')).toMatchObject({ findings: [] })
})
