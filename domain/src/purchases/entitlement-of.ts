import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import { compileEntitlement } from '../entitlements/compile-entitlement.ts'
import type { PackAccount } from '../packs/repository.ts'
import { givesAccess } from './access.ts'
import type { EntitlingPurchase } from './purchase-rows.ts'

/**
 * Returns the entitlement of the purchase for the data plane. Undefined for a top-up, which grants no access. An ended purchase is
 * published with its end instead of being removed, so that its version orders it against its successor.
 */
export function entitlementOf(
  purchase: EntitlingPurchase,
  customerRefs: readonly string[],
  now: Date,
  packs?: PackAccount,
): Entitlement | undefined {
  if (purchase.planSnapshot === null) return undefined
  const ended = { ...purchase, endDate: accessEnd(purchase, now) }
  return compileEntitlement(ended, purchase.planSnapshot, { now, customerRefs, packs })
}

/** Returns when access ends, or null while there is no end. */
export function accessEnd(purchase: EntitlingPurchase, now: Date): Date | null {
  if (givesAccess(purchase, now)) return purchase.endDate
  return purchase.endedAt ?? purchase.endDate ?? purchase.updatedAt
}
