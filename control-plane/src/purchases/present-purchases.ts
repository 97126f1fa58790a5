import { listReferencesByCustomer } from '@tollgate/domain/customers/repository'
import { purchasePeriodAt } from '@tollgate/domain/entitlements/compile-entitlement'
import { purchaseUsage } from '@tollgate/domain/entitlements/usage-view'
import { unixSecond } from '@tollgate/domain/periods/periods'
import { givesAccess } from '@tollgate/domain/purchases/access'
import {
  listPurchases,
  statusesWithAccess,
  type Purchase,
  type PurchaseFilter,
} from '@tollgate/domain/purchases/repository'
import type {
  PurchaseBody,
  PurchaseBriefBody,
  PurchaseUsageBody,
} from '@tollgate/schemas/http/purchases'
import type { AppParts } from '../http/app-parts.ts'
import type { Caller } from '../http/plugins/authentication.ts'
import { purchaseToBrief, purchaseToHttp } from '../http/translate/purchase.ts'
import { readUsedMicros, waitForCounters } from '../limits/read-counters.ts'

/** Purchases as lists show them, each with the usage of its current period. */
export async function fullPurchasesOf(
  parts: AppParts,
  caller: Caller,
  filter: Omit<PurchaseFilter, 'rowsMax'>,
): Promise<PurchaseBody[]> {
  const purchases = await loadPurchases(parts, caller, filter)
  const usages = await usageShown(parts, caller, purchases)
  return purchases.map((purchase) => purchaseToHttp(purchase, usages.get(purchase.reference)))
}

/** The customer's purchases that give access, as they stand inside the customer. */
export async function briefPurchasesOf(
  parts: AppParts,
  caller: Caller,
  customerRef: string,
): Promise<PurchaseBriefBody[]> {
  const filter = { customerRef, statuses: statusesWithAccess }
  const loaded = await loadPurchases(parts, caller, filter)
  const now = new Date(parts.clock.now())
  const purchases = loaded.filter((purchase) => givesAccess(purchase, now))
  const usages = await usageShown(parts, caller, purchases)
  return purchases.map((purchase) => purchaseToBrief(purchase, usages.get(purchase.reference)))
}

/** One purchase as it is now, whether it gives access or not. */
export async function briefPurchaseOf(
  parts: AppParts,
  caller: Caller,
  purchase: Purchase,
): Promise<PurchaseBriefBody> {
  const usages = await usageShown(parts, caller, [purchase])
  return purchaseToBrief(purchase, usages.get(purchase.reference))
}

function loadPurchases(
  parts: AppParts,
  { environment, providerId }: Caller,
  filter: Omit<PurchaseFilter, 'rowsMax'>,
): Promise<Purchase[]> {
  const pool = parts.database.in(environment)
  return listPurchases(pool, providerId, { ...filter, rowsMax: parts.limits.purchasesMax })
}

/**
 * By purchase reference. Usage is a view here and nothing is decided by it: when the counters are late, what is
 * counted so far is shown, and nothing while they cannot be read.
 */
async function usageShown(
  parts: AppParts,
  caller: Caller,
  purchases: readonly Purchase[],
): Promise<Map<string, PurchaseUsageBody>> {
  const pool = parts.database.in(caller.environment)
  const customers = purchases.map((purchase) => purchase.customerRef)
  const references = await listReferencesByCustomer(pool, caller.providerId, customers)
  try {
    return await readUsages(parts, caller, purchases, references)
  } catch (error) {
    parts.logger.warn({ err: error }, 'purchases are shown without their usage')
    return new Map()
  }
}

async function readUsages(
  parts: AppParts,
  { environment, providerId }: Caller,
  purchases: readonly Purchase[],
  references: ReadonlyMap<string, readonly string[]>,
): Promise<Map<string, PurchaseUsageBody>> {
  await waitForCounters(parts, environment, providerId, [...references.values()].flat())
  const usages = new Map<string, PurchaseUsageBody>()
  for (const purchase of purchases) {
    const { planSnapshot } = purchase
    if (planSnapshot === null) continue
    const period = purchasePeriodAt(purchase, planSnapshot, shownInstant(parts, purchase))
    const usedMicros = await readUsedMicros(parts, environment, providerId, {
      purchaseRef: purchase.reference,
      productRef: purchase.productRef,
      customerRefs: references.get(purchase.customerRef) ?? [],
      periodStartSecond: unixSecond(period.start),
    })
    usages.set(purchase.reference, purchaseUsage(planSnapshot, usedMicros, period))
  }
  return usages
}

/** Now, or the last instant of a purchase that has ended. */
function shownInstant(parts: AppParts, purchase: Purchase): Date {
  const endMs = (purchase.endedAt ?? purchase.endDate)?.getTime() ?? Infinity
  return new Date(Math.min(parts.clock.now(), endMs - 1))
}
