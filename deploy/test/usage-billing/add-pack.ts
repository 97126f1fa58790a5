import { addPack } from '@tollgate/domain/packs/add-pack'
import { findCustomer } from '@tollgate/domain/customers/repository'
import { createPurchase } from '@tollgate/domain/purchases/create-purchase'
import { newUnpaidPurchase } from '@tollgate/domain/purchases/new-purchase'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { PlanCreateInput } from '@tollgate/schemas/http/plans'
import type { UsageShop } from './usage-shop.ts'

/** Delivers a pack to the customer of the purchase, like a payment for it. */
export async function deliverPack(
  { runner, shop }: Pick<UsageShop, 'runner' | 'shop'>,
  { customerRef }: Pick<Purchase, 'customerRef'>,
  pack: NonNullable<PlanCreateInput['pack']>,
  accessExpiryDays?: number,
): Promise<Purchase> {
  const plan = await runner.addPlan(shop, {
    ...{ type: 'one-time', price: 500, pack },
    ...(accessExpiryDays === undefined ? {} : { accessExpiryDays }),
  })
  return runner.within(shop, async (work) => {
    const customer = (await findCustomer(work.sql, work.providerId, customerRef))!
    const given = { customer, product: shop.product, plan, now: work.now } as const
    const purchase = newUnpaidPurchase({ ...given, cycleMode: 'calendar', origin: 'one_time' })
    await createPurchase(work, purchase)
    await addPack(work, purchase, plan)
    return purchase
  })
}

/** Returns the used and taken units of the customer's packs, in the order of their purchase. */
export async function packUnitsOf(
  { runner }: Pick<UsageShop, 'runner'>,
  { customerRef }: Pick<Purchase, 'customerRef'>,
): Promise<{ used: number; taken: number }[]> {
  const rows = await runner.database.in('sandbox')<{ used: string; taken: string }[]>`
    select used_micros::text as used, taken_micros::text as taken from packs
    where customer_ref = ${customerRef} order by starts_at, units_micros`
  return rows.map(({ used, taken }) => ({ used: Number(used) / 1e6, taken: Number(taken) / 1e6 }))
}
