import { cloneMcp } from '../mcp/clone-mcp.ts'
import { insertPlan, listPlans } from '../plans/repository.ts'
import { planObject } from '../plans/plan-event.ts'
import { drawReference } from '../unit-of-work/draw-reference.ts'
import { queuePublication, recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { productObject } from './product-event.ts'
import { insertProduct, lockProduct, type Product } from './repository.ts'

/** A copy with new references for the product and its plans, and no past. Undefined when there is no such product. */
export async function cloneProduct(
  work: UnitOfWork,
  reference: string,
  name: string | undefined,
): Promise<Product | undefined> {
  const { sql, providerId, now } = work
  // Locked, so that the plans are those of one moment.
  const original = await lockProduct(sql, providerId, reference)
  if (original === undefined) return undefined
  const copy: Product = {
    ...original,
    reference: drawReference('product'),
    name: name ?? `${original.name} (copy)`,
    balanceMinor: 0,
    totalTransactions: 0,
    createdAt: now,
    updatedAt: now,
  }
  await insertProduct(sql, providerId, copy)
  await recordEvent(work, 'product.created', productObject(copy))
  const planTwins = new Map<string, string>()
  for (const [index, plan] of (await listPlans(sql, providerId, [reference])).entries()) {
    // Plans are listed in the order they were made, so the twins are made in the order of the originals.
    const madeAt = new Date(now.getTime() + index)
    const twin = {
      ...plan,
      reference: drawReference('plan'),
      productRef: copy.reference,
      createdAt: madeAt,
      updatedAt: madeAt,
    }
    await insertPlan(sql, providerId, twin)
    await recordEvent(work, 'plan.created', planObject(twin))
    planTwins.set(plan.reference, twin.reference)
  }
  await cloneMcp(work, reference, copy, planTwins)
  await queuePublication(work, 'offer', copy.reference)
  return copy
}
