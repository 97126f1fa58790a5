import { endRefundedPurchase } from '@tollgate/domain/purposes/end-refunded'
import { endNow } from '@tollgate/domain/purchases/move-purchase'
import { insertPurchase, lockPurchase, type Purchase } from '@tollgate/domain/purchases/repository'
import { generateReference } from '@tollgate/domain/unit-of-work/generate-reference'
import { expect, test } from 'vitest'
import { hybrid, UsageShop } from './usage-shop.ts'

/* Usage of a plan that was replaced on 12 February and is active again on 15 February, because the change was refunded. */

const usageShop = new UsageShop()

/** Replaces the purchase by one that continues its period. */
async function change({ reference }: Purchase): Promise<Purchase> {
  usageShop.runner.clock.set('2026-02-12T00:00:00Z')
  return usageShop.runner.within(usageShop.shop, async (work) => {
    const { sql, providerId, now } = work
    const before = (await lockPurchase(sql, providerId, reference))!
    await endNow(work, before, 'expired')
    const dates = { startDate: now, createdAt: now, updatedAt: now }
    const changed = { ...before, ...dates, reference: generateReference('purchase') }
    await insertPurchase(sql, providerId, changed)
    return changed
  })
}

async function undo({ reference }: Purchase): Promise<void> {
  usageShop.runner.clock.set('2026-02-15T00:00:00Z')
  await usageShop.runner.within(usageShop.shop, (work) => endRefundedPurchase(work, reference))
}

/** Returns the invoiced units by kind of line. */
async function billedUnits(...purchases: readonly Purchase[]): Promise<Record<string, number>> {
  const units: Record<string, number> = {}
  for (const purchase of purchases) {
    for (const { lines } of await usageShop.invoicesOf(purchase)) {
      for (const { inputs } of lines) {
        if (inputs.kind !== 'usage' && inputs.kind !== 'late_usage') continue
        const billed = Number(inputs.kind === 'usage' ? inputs.usedUnits : inputs.lateUnits)
        units[inputs.kind] = (units[inputs.kind] ?? 0) + billed
      }
    }
  }
  return units
}

test.each([
  ['after', { usage: 100, late_usage: 250 }],
  ['before', { usage: 350 }],
] as const)(
  'bills usage once if the change of plan is undone %s the final bill',
  async (when, units) => {
    const purchase = await usageShop.buy(hybrid, { originalAmountMinor: 4_900 })
    await usageShop.use(purchase, 100, '2026-02-10T00:00:00Z')
    const changed = await change(purchase)
    if (when === 'after') await usageShop.bill('2026-02-13T00:00:00Z')
    await usageShop.use(purchase, 200, '2026-02-14T00:00:00Z')
    await undo(changed)
    expect(await usageShop.now(purchase)).toMatchObject({
      status: 'active',
      nextBillingDate: new Date('2026-02-28T12:00:00Z'),
    })
    await usageShop.use(purchase, 50, '2026-02-20T00:00:00Z')
    for (const at of ['2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z', '2026-05-01T00:00:00Z']) {
      await usageShop.renew(at)
      await usageShop.bill(at)
    }
    expect(await billedUnits(purchase, changed)).toEqual(units)
  },
)
