import { isOffered } from '@tollgate/domain/catalog/plan-offer'
import { listPlans } from '@tollgate/domain/catalog/plans-repository'
import { findProduct, type Product } from '@tollgate/domain/catalog/products-repository'
import { isPack } from '@tollgate/domain/packs/pack-terms'
import { offeredPlan } from '@tollgate/domain/overrides/priced-plan'
import { findOverrides } from '@tollgate/domain/overrides/repository'
import type { Plan } from '@tollgate/domain/plans/plan'
import { isSoldOut } from '@tollgate/domain/plans/sold-out'
import { givesAccess } from '@tollgate/domain/purchases/access'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { Queryable } from '@tollgate/platform/database/database'
import { read, type ReadParts } from '../../access/read.ts'
import type { Portal } from './portal.ts'

export type OfferedPacks = {
  readonly product: Product
  /** Cheapest first. */
  readonly packs: readonly { readonly plan: Plan; readonly isSoldOut: boolean }[]
}

/** Returns whether a pack can be bought beside the purchase: it is of a plan, and gives access. */
export function takesPacks(purchase: Purchase, now: Date): boolean {
  return !purchase.isPack && purchase.planSnapshot !== null && givesAccess(purchase, now)
}

/** Returns the packs on offer beside the purchase, or undefined if none can be bought. */
export function readOfferedPacks(
  pages: ReadParts,
  { caller, customer }: Portal,
  purchase: Purchase,
  now: Date,
): Promise<OfferedPacks | undefined> {
  const { providerId } = caller
  const { productRef } = purchase
  return read(pages, caller, async (sql) => {
    if (!takesPacks(purchase, now)) return undefined
    const product = await findProduct(sql, providerId, productRef)
    const overrides = await findOverrides(sql, providerId, customer.reference, productRef)
    const plans = (await listOfferedPacks(sql, providerId, [productRef])).map((plan) =>
      offeredPlan(plan, overrides, now),
    )
    if (product?.status !== 'active' || plans.length === 0) return undefined
    const packs = await Promise.all(
      plans.map(async (plan) => ({
        plan,
        isSoldOut: await isSoldOut(sql, providerId, plan, customer.reference),
      })),
    )
    return {
      product,
      packs: packs.sort((one, other) => one.plan.priceMinor - other.plan.priceMinor),
    }
  })
}

/** Returns the products of which packs are on offer. A product that is not active shows so on the page of its packs. */
export async function productsWithPacks(
  pages: ReadParts,
  { caller }: Portal,
  productRefs: readonly string[],
): Promise<ReadonlySet<string>> {
  if (productRefs.length === 0) return new Set()
  const { providerId } = caller
  const plans = await read(pages, caller, (sql) => listOfferedPacks(sql, providerId, productRefs))
  return new Set(plans.map(({ productRef }) => productRef))
}

async function listOfferedPacks(
  sql: Queryable,
  providerId: string,
  productRefs: readonly string[],
): Promise<Plan[]> {
  const plans = await listPlans(sql, providerId, [...productRefs])
  return plans.filter((plan) => isOffered(plan) && isPack(plan))
}
