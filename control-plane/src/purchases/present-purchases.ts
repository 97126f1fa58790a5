import { listReferencesByCustomer } from '@tollgate/domain/customers/repository'
import { purchasePeriodAt } from '@tollgate/domain/entitlements/compile-entitlement'
import { purchaseUsage } from '@tollgate/domain/entitlements/usage-view'
import { unixSecond } from '@tollgate/domain/periods/periods'
import { givesAccess } from '@tollgate/domain/purchases/access'
import type { PageRange } from '@tollgate/domain/postgres/select-page'
import {
  countPurchases,
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
import type { Queryable } from '@tollgate/platform/database/database'
import type { AppParts } from '../http/app-parts.ts'
import type { Caller } from '../http/plugins/authentication.ts'
import { read } from '../http/read.ts'
import { purchaseToBrief, purchaseToHttp } from '../http/translate/purchase.ts'
import { readUsedMicros, waitForCounters } from '../limits/read-counters.ts'

/** Purchases as lists show them, each with the usage of its current period. */
export async function fullPurchasesOf(
  parts: AppParts,
  caller: Caller,
  filter: Partial<PurchaseFilter>,
): Promise<PurchaseBody[]> {
  const loaded = await read(parts, caller, (sql) => loadPurchases(parts, sql, caller, filter))
  return presentFully(parts, caller, loaded)
}

export async function presentFully(
  parts: AppParts,
  caller: Caller,
  loaded: LoadedPurchases,
): Promise<PurchaseBody[]> {
  const shown = await withUsage(parts, caller, loaded)
  return shown.map(({ purchase, usage }) => purchaseToHttp(purchase, usage))
}

export type ShownPurchase = {
  readonly purchase: Purchase
  readonly usage: PurchaseUsageBody | undefined
}

export async function shownPurchasesOf(
  parts: AppParts,
  caller: Caller,
  filter: Partial<PurchaseFilter>,
): Promise<ShownPurchase[]> {
  const loaded = await read(parts, caller, (sql) => loadPurchases(parts, sql, caller, filter))
  return withUsage(parts, caller, loaded)
}

async function withUsage(
  parts: AppParts,
  caller: Caller,
  { purchases, references }: LoadedPurchases,
): Promise<ShownPurchase[]> {
  const usages = await usageShown(parts, caller, purchases, references)
  return purchases.map((purchase) => ({ purchase, usage: usages.get(purchase.reference) }))
}

/** One page of them, and how many there are in all. */
export async function purchasesPageOf(
  parts: AppParts,
  caller: Caller,
  filter: Omit<PurchaseFilter, 'rowsMax' | 'offset'>,
  { limit, offset }: PageRange,
): Promise<{ purchases: PurchaseBody[]; total: number }> {
  const total = await read(parts, caller, (sql) => countPurchases(sql, caller.providerId, filter))
  const paged = { ...filter, rowsMax: limit, offset }
  return { purchases: await fullPurchasesOf(parts, caller, paged), total }
}

/** The customer's purchases that give access, as they stand inside the customer. */
export async function briefPurchasesOf(
  parts: AppParts,
  caller: Caller,
  customerRef: string,
): Promise<PurchaseBriefBody[]> {
  const loaded = await read(parts, caller, (sql) =>
    loadPurchases(parts, sql, caller, withAccess(customerRef)),
  )
  return presentBriefly(parts, caller, loaded)
}

/** What of a customer's purchases may give access. */
export function withAccess(customerRef: string): Partial<PurchaseFilter> {
  return { customerRef, statuses: statusesWithAccess }
}

export async function presentBriefly(
  parts: AppParts,
  caller: Caller,
  { purchases: loaded, references }: LoadedPurchases,
): Promise<PurchaseBriefBody[]> {
  const now = new Date(parts.clock.now())
  const purchases = loaded.filter((purchase) => givesAccess(purchase, now))
  const usages = await usageShown(parts, caller, purchases, references)
  return purchases.map((purchase) => purchaseToBrief(purchase, usages.get(purchase.reference)))
}

/** One purchase as it is now, whether it gives access or not. */
export async function briefPurchaseOf(
  parts: AppParts,
  caller: Caller,
  purchase: Purchase,
): Promise<PurchaseBriefBody> {
  const references = await read(parts, caller, (sql) =>
    listReferencesByCustomer(sql, caller.providerId, [purchase.customerRef]),
  )
  const usages = await usageShown(parts, caller, [purchase], references)
  return purchaseToBrief(purchase, usages.get(purchase.reference))
}

/** By customer. */
type References = ReadonlyMap<string, readonly string[]>

export type LoadedPurchases = {
  readonly purchases: readonly Purchase[]
  readonly references: References
}

/** With the references that the customers are counted under. Where the customer is known, both are asked for together. */
export async function loadPurchases(
  { limits }: Pick<AppParts, 'limits'>,
  sql: Queryable,
  { providerId }: Caller,
  filter: Partial<PurchaseFilter>,
): Promise<LoadedPurchases> {
  const listing = listPurchases(sql, providerId, { rowsMax: limits.purchasesMax, ...filter })
  if (filter.customerRef !== undefined) {
    const [purchases, references] = await Promise.all([
      listing,
      listReferencesByCustomer(sql, providerId, [filter.customerRef]),
    ])
    return { purchases, references }
  }
  const purchases = await listing
  const customers = purchases.map((purchase) => purchase.customerRef)
  return { purchases, references: await listReferencesByCustomer(sql, providerId, customers) }
}

/**
 * By purchase reference. Usage is a view here and nothing is decided by it: when the counters are late, what is
 * counted so far is shown, and nothing while they cannot be read.
 */
async function usageShown(
  parts: AppParts,
  caller: Caller,
  purchases: readonly Purchase[],
  references: References,
): Promise<Map<string, PurchaseUsageBody>> {
  if (purchases.length === 0) return new Map()
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
  references: References,
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
