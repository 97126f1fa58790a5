import { changeOverrides } from '@tollgate/domain/purchases/change-overrides'
import type { Overrides } from '@tollgate/domain/overrides/overrides'
import type { InvoiceLine } from '@tollgate/domain/pricing/invoice-line'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { Charge } from '@tollgate/schemas/http/charges'
import { recomputeInvoice } from '@tollgate/domain/invoices/recompute-invoice'
import { expect, test } from 'vitest'
import { UsageShop } from './usage-shop.ts'

/* Bills of a customer whose overrides change while periods run. */

const usageShop = new UsageShop()

const tokens: Charge = {
  ...{ key: 'tokens', meter: 'tokens', model: 'per_unit', per: 'period', price: '3' },
  ...{ included: 10, cap: 100 },
}

const plan = {
  ...({ type: 'usage-based', billingModel: 'post-paid', billingCycle: 'monthly' } as const),
  charges: [tokens],
}

async function override(
  { customerRef, productRef }: Purchase,
  at: string,
  charges: Overrides['charges'],
): Promise<void> {
  usageShop.runner.clock.set(at)
  const outcome = await usageShop.runner.within(usageShop.shop, (work) =>
    changeOverrides(work, { customerRef, productRef }, { charges, usageLimits: [] }),
  )
  expect(outcome.kind).toBe('changed')
}

/** Without what earlier invoices carried in, because they were too small to charge. */
const amounts = (lines: readonly InvoiceLine[]) =>
  lines
    .filter(({ inputs }) => inputs.kind === 'usage' || inputs.kind === 'late_usage')
    .map(({ inputs, amountMinor }) => [inputs.kind, Number(amountMinor)])

test('a period and its late usage have the price and included units that it began with', async () => {
  await usageShop.addMeters({ tokens: [] })
  const purchase = await usageShop.buy(plan)
  await usageShop.use(purchase, 30, '2026-02-10T00:00:00Z', 'tokens')
  await override(purchase, '2026-02-15T00:00:00Z', [
    { charge: 'tokens', price: '1', included: 0, cap: 50 },
  ])
  await usageShop.bill('2026-02-28T13:00:00Z')
  // The price of this change applies to no period: another one follows before the next begins.
  await override(purchase, '2026-03-10T00:00:00Z', [{ charge: 'tokens', price: '9' }])
  await usageShop.use(purchase, 20, '2026-03-11T00:00:00Z', 'tokens')
  await usageShop.useLate(purchase, 5, '2026-02-20T00:00:00Z', 'tokens')
  await override(purchase, '2026-03-12T00:00:00Z', [])
  await usageShop.bill('2026-03-31T13:00:00Z')
  await usageShop.use(purchase, 14, '2026-04-11T00:00:00Z', 'tokens')
  await usageShop.bill('2026-04-30T13:00:00Z')
  const invoices = await usageShop.invoicesOf(purchase)
  expect(invoices.map(({ lines }) => amounts(lines))).toEqual([
    [['usage', (30 - 10) * 3]],
    [
      ['late_usage', 5 * 3],
      ['usage', 20 * 1],
    ],
    [['usage', (14 - 10) * 3]],
  ])
  for (const invoice of invoices) expect(recomputeInvoice(invoice)).toEqual([])
})

test('usage is charged up to the highest cap of its period', async () => {
  await usageShop.addMeters({ tokens: [] })
  const purchase = await usageShop.buy(plan)
  await usageShop.use(purchase, 90, '2026-02-10T00:00:00Z', 'tokens')
  await override(purchase, '2026-02-15T00:00:00Z', [{ charge: 'tokens', cap: 150 }])
  await usageShop.use(purchase, 50, '2026-02-16T00:00:00Z', 'tokens')
  await override(purchase, '2026-02-17T00:00:00Z', [{ charge: 'tokens', cap: 20 }])
  await usageShop.use(purchase, 50, '2026-02-18T00:00:00Z', 'tokens')
  await usageShop.bill('2026-02-28T13:00:00Z')
  await usageShop.use(purchase, 50, '2026-03-18T00:00:00Z', 'tokens')
  await usageShop.bill('2026-03-31T13:00:00Z')
  const invoices = await usageShop.invoicesOf(purchase)
  expect(invoices.map(({ lines }) => amounts(lines))).toEqual([
    [['usage', (150 - 10) * 3]],
    [['usage', (20 - 10) * 3]],
  ])
})
