import { noteCorrectedPeriods } from '@tollgate/domain/invoices/corrected-periods'
import type { InvoiceLine } from '@tollgate/domain/pricing/invoice-line'
import { endNow } from '@tollgate/domain/purchases/move-purchase'
import { lockPurchase, type Purchase } from '@tollgate/domain/purchases/repository'
import { noteBackfill } from '@tollgate/domain/usage-corrections/note-backfill'
import { backfillAppendMsMax } from '@tollgate/schemas/http/usage-corrections'
import { expect, test } from 'vitest'
import { postPaid, UsageShop } from './usage-shop.ts'

/* Bills of usage that is announced before it is in the log. */

const usageShop = new UsageShop()

const amounts = (lines: readonly InvoiceLine[]) =>
  lines.map(({ inputs, period, amountMinor }) => [
    inputs.kind,
    period?.start.toISOString().slice(0, 10),
    amountMinor,
  ])

async function noted(): Promise<number> {
  const [row] = await usageShop.runner.database.in('sandbox')<[{ total: number }]>`
    select count(*)::int as total from corrected_periods where provider_id = ${usageShop.shop.providerId}`
  return row.total
}

test('bills announced usage of a closed purchase when it must be in the log', async () => {
  const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
  await usageShop.use(purchase, 100, '2026-02-10T00:00:00Z')
  usageShop.runner.clock.set('2026-02-20T00:00:00Z')
  await usageShop.runner.within(usageShop.shop, async (work) => {
    const locked = await lockPurchase(work.sql, work.providerId, purchase.reference)
    await endNow(work, locked!, 'expired')
  })
  for (const at of ['2026-02-20T02:00:00Z', '2026-04-01T00:00:00Z']) await usageShop.bill(at)
  const { customerRef, productRef } = purchase
  const timestamp = Date.parse('2026-02-11T00:00:00Z')
  // A correction that changes nothing here, and a backfill right after it.
  usageShop.runner.clock.set('2026-05-01T00:00:00Z')
  await usageShop.runner.within(usageShop.shop, ({ sql, providerId, now }) =>
    noteCorrectedPeriods(sql, providerId, [{ customerRef, productRef, timestamp }], now),
  )
  await announce(purchase, '2026-02-11T00:00:00Z', '2026-05-01T00:00:10Z')
  await usageShop.bill('2026-05-01T00:00:20Z')
  await usageShop.useLate(purchase, 7, '2026-02-11T00:00:00Z')
  await usageShop.bill('2026-05-01T00:10:10Z')
  const last = (await usageShop.invoicesOf(purchase)).at(-1)
  expect(amounts(last!.lines)).toEqual([['late_usage', '2026-01-31', 7n]])
  expect(await noted()).toBe(0)
})

test('bills announced usage of a period whose first bills come before the usage', async () => {
  const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
  await usageShop.use(purchase, 100, '2026-02-10T00:00:00Z')
  await announce(purchase, '2026-02-11T00:00:00Z', '2026-06-01T00:00:00Z')
  // No billing runner ran for months, and makes all their bills now.
  await usageShop.bill('2026-06-01T00:00:20Z')
  await usageShop.useLate(purchase, 7, '2026-02-11T00:00:00Z')
  await usageShop.bill('2026-06-30T13:00:00Z')
  const lines = (await usageShop.invoicesOf(purchase)).flatMap((each) => amounts(each.lines))
  expect(lines.filter(([, , minor]) => minor !== 0n)).toEqual([
    ['usage', '2026-01-31', 100n],
    ['late_usage', '2026-01-31', 7n],
  ])
  expect(await noted()).toBe(0)
})

test('keeps the usage of an ended purchase open for usage that was announced before its last bill', async () => {
  const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
  await usageShop.use(purchase, 100, '2026-02-10T00:00:00Z')
  usageShop.runner.clock.set('2026-02-20T00:00:00Z')
  await usageShop.runner.within(usageShop.shop, async (work) => {
    const locked = await lockPurchase(work.sql, work.providerId, purchase.reference)
    await endNow(work, locked!, 'expired')
  })
  await announce(purchase, '2026-02-11T00:00:00Z', '2026-06-01T00:00:00Z')
  await usageShop.bill('2026-06-01T00:00:20Z')
  await usageShop.bill('2026-06-01T00:00:40Z')
  await usageShop.useLate(purchase, 7, '2026-02-11T00:00:00Z')
  await usageShop.bill('2026-06-01T00:10:00Z')
  const last = (await usageShop.invoicesOf(purchase)).at(-1)
  expect(amounts(last!.lines)).toEqual([['late_usage', '2026-01-31', 7n]])
  expect(await noted()).toBe(0)
})

test('notes a period of announced usage only if it is over before the usage must be in the log', async () => {
  const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
  const other = await usageShop.buy({ ...postPaid, freeUnits: 0 })
  // No billing runner has billed February. The bill of March comes after the usage anyway.
  await announce(purchase, '2026-03-04T00:00:00Z', '2026-03-05T00:00:00Z')
  expect(await noted()).toBe(0)
  await announce(purchase, '2026-02-11T00:00:00Z', '2026-03-05T00:00:10Z')
  expect(await noted()).toBe(1)
  // A purchase that has ended had its last period cut.
  await usageShop.runner.within(usageShop.shop, async (work) => {
    const locked = await lockPurchase(work.sql, work.providerId, other.reference)
    await endNow(work, locked!, 'expired')
  })
  await announce(other, '2026-03-04T00:00:00Z', '2026-03-05T00:00:20Z')
  expect(await noted()).toBe(2)
})

/** Announces usage of the time `usedAt` as ingest does, before it is in the log. */
async function announce(
  { customerRef, productRef }: Pick<Purchase, 'customerRef' | 'productRef'>,
  usedAt: string,
  at: string,
): Promise<void> {
  usageShop.runner.clock.set(at)
  const timestamp = Date.parse(usedAt)
  const keptUntil = new Date(Date.parse(at) + 2 * backfillAppendMsMax)
  await usageShop.runner.within(usageShop.shop, (work) =>
    noteBackfill(work, [{ customerRef, productRef, timestamp }], keptUntil),
  )
}
