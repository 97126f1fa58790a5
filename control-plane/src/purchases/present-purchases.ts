import { planToBill } from '@tollgate/domain/overrides/overridden-plan'
import type { UsageSources } from '@tollgate/domain/customers/usage-sources'
import { carriedOverMicros } from '@tollgate/domain/entitlements/carried-over'
import {
  compileEntitlement,
  purchasePeriodAt,
  purchaseWindowOf,
} from '@tollgate/domain/entitlements/compile-entitlement'
import { currentPeriod } from '@tollgate/domain/entitlements/counting-windows'
import { packUnits, type PackUnits } from '@tollgate/domain/entitlements/pack-units'
import { purchaseUsage } from '@tollgate/domain/entitlements/usage-view'
import type { PackAccount } from '@tollgate/domain/packs/repository'
import { rollOverLimitMicros } from '@tollgate/domain/pricing/roll-over'
import { givesAccess } from '@tollgate/domain/purchases/access'
import type { PageRange } from '@tollgate/domain/postgres/select-page'
import {
  countPurchases,
  type Purchase,
  type PurchaseFilter,
} from '@tollgate/domain/purchases/repository'
import type {
  ChangedPurchaseBody,
  PurchaseBody,
  PurchaseBriefBody,
  PurchaseUsageBody,
} from '@tollgate/schemas/http/purchases'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { hasTestClocks, listClockTimes } from '@tollgate/domain/test-clocks/customer-time'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { Caller } from '../access/caller.ts'
import { read } from '../access/read.ts'
import { purchaseToBrief, purchaseToHttp } from './translate-purchase.ts'
import { readCountedAmounts, waitForCounters, type CounterParts } from '../limits/read-counters.ts'
import {
  accessFilter,
  loadPurchases,
  loadUsageContext,
  type LoadedPurchases,
  type UsageContext,
} from './load-purchases.ts'
import { readChargedUsage } from './read-charged-usage.ts'
import { splitSharedUsage, type SharedUsageParts } from './shared-usage.ts'

export type PurchaseViewParts = CounterParts &
  SharedUsageParts & { readonly clock: Clock; readonly limits: { readonly purchasesMax: number } }

/** Returns purchases in the format of list responses, each with the usage of its current period. */
export async function fullPurchasesOf(
  parts: PurchaseViewParts,
  caller: Caller,
  filter: Partial<PurchaseFilter>,
): Promise<PurchaseBody[]> {
  const loaded = await read(parts, caller, (sql) => loadPurchases(parts, sql, caller, filter))
  return presentPurchases(parts, caller, loaded)
}

export async function presentPurchases(
  parts: PurchaseViewParts,
  caller: Caller,
  loaded: LoadedPurchases,
): Promise<PurchaseBody[]> {
  const shown = await addUsage(parts, caller, loaded)
  return shown.map(({ purchase, usage }) => purchaseToHttp(purchase, usage))
}

export type ShownPurchase = {
  readonly purchase: Purchase
  readonly usage: PurchaseUsageBody | undefined
}

export async function shownPurchasesOf(
  parts: PurchaseViewParts,
  caller: Caller,
  filter: Partial<PurchaseFilter>,
): Promise<ShownPurchase[]> {
  const loaded = await read(parts, caller, (sql) => loadPurchases(parts, sql, caller, filter))
  return addUsage(parts, caller, loaded)
}

async function addUsage(
  parts: PurchaseViewParts,
  caller: Caller,
  loaded: LoadedPurchases,
): Promise<ShownPurchase[]> {
  const { purchases } = loaded
  const usages = await readUsagesOrNone(parts, caller, purchases, loaded)
  return purchases.map((purchase) => ({ purchase, usage: usages.get(purchase.reference) }))
}

/** Returns one page of purchases, and the total number of purchases. */
export async function purchasesPageOf(
  parts: PurchaseViewParts,
  caller: Caller,
  filter: Omit<PurchaseFilter, 'rowsMax' | 'offset'>,
  { limit, offset }: PageRange,
): Promise<{ purchases: PurchaseBody[]; total: number }> {
  const total = await read(parts, caller, (sql) => countPurchases(sql, caller.providerId, filter))
  const paged = { ...filter, rowsMax: limit, offset }
  return { purchases: await fullPurchasesOf(parts, caller, paged), total }
}

/** Returns the customer's purchases that give access, in the shape that they have inside a customer. */
export async function briefPurchasesOf(
  parts: PurchaseViewParts,
  caller: Caller,
  customerRef: string,
): Promise<PurchaseBriefBody[]> {
  const loaded = await read(parts, caller, (sql) =>
    loadPurchases(parts, sql, caller, { customerRef, ...accessFilter }),
  )
  return presentBriefPurchases(parts, caller, loaded)
}

export async function presentBriefPurchases(
  parts: PurchaseViewParts,
  caller: Caller,
  loaded: LoadedPurchases,
): Promise<PurchaseBriefBody[]> {
  const now = new Date(parts.clock.now())
  const purchases = loaded.purchases.filter((purchase) => givesAccess(purchase, now))
  const usages = await readUsagesOrNone(parts, caller, purchases, loaded)
  return purchases.map((purchase) => purchaseToBrief(purchase, usages.get(purchase.reference)))
}

/** Returns the current state of one purchase, whether or not it gives access. */
export async function briefPurchaseOf(
  parts: PurchaseViewParts,
  caller: Caller,
  purchase: Purchase,
): Promise<PurchaseBriefBody> {
  return purchaseToBrief(purchase, await usageOf(parts, caller, purchase))
}

/** Returns a purchase with all its fields, for responses to requests that change it. */
export async function changedPurchaseOf(
  parts: PurchaseViewParts,
  caller: Caller,
  purchase: Purchase,
): Promise<ChangedPurchaseBody> {
  const usage = await usageOf(parts, caller, purchase)
  return { ...purchaseToBrief(purchase, usage), ...purchaseToHttp(purchase, usage) }
}

async function usageOf(
  parts: PurchaseViewParts,
  caller: Caller,
  purchase: Purchase,
): Promise<PurchaseUsageBody | undefined> {
  const context = await read(parts, caller, (sql) => loadUsageContext(sql, caller, purchase))
  const usages = await readUsagesOrNone(parts, caller, [purchase], context)
  return usages.get(purchase.reference)
}

/**
 * Returns the usage by reference of the purchase, for display only. If the counters are late, the usage counted so far is shown. If
 * they cannot be read, no usage is shown.
 */
async function readUsagesOrNone(
  parts: PurchaseViewParts,
  caller: Caller,
  purchases: readonly Purchase[],
  context: UsageContext,
): Promise<Map<string, PurchaseUsageBody>> {
  if (purchases.length === 0) return new Map()
  try {
    return await readUsages(parts, caller, purchases, context)
  } catch (error) {
    parts.logger.warn({ err: error }, 'purchases are shown without their usage')
    return new Map()
  }
}

const noSources: Pick<UsageSources, 'references' | 'sharedWindows'> = {
  references: [],
  sharedWindows: [],
}

async function readUsages(
  parts: PurchaseViewParts,
  caller: Caller,
  purchases: readonly Purchase[],
  { sources, accounts, conversions }: UsageContext,
): Promise<Map<string, PurchaseUsageBody>> {
  const { environment, providerId } = caller
  const references = [...sources.values()].flatMap((each) => each.references)
  await waitForCounters(parts, environment, providerId, references)
  const usages = new Map<string, PurchaseUsageBody>()
  const clocks = await readClocks(parts, caller, purchases)
  for (const purchase of purchases) {
    const now = clocks.get(purchase.customerRef) ?? new Date(parts.clock.now())
    const { planSnapshot, productRef } = purchase
    // The usage that packs pay for is that of the running purchase.
    if (planSnapshot === null || purchase.isPack) continue
    const { references: customerRefs, sharedWindows } =
      sources.get(purchase.customerRef) ?? noSources
    const shownAt = usageInstant(purchase, now)
    const period = purchasePeriodAt(purchase, planSnapshot, shownAt)
    const amounts = await readCountedAmounts(parts, environment, providerId, {
      productRef,
      customerRefs,
    })
    const window = purchaseWindowOf(purchase, period)
    const countedMicros = amounts.get(window) ?? 0n
    const used = sharedWindows.includes(window)
      ? await splitSharedUsage(parts, caller, purchase, customerRefs, period, countedMicros)
      : { usedMicros: countedMicros }
    if (used === undefined) continue
    const carriedOverMicros = carriedOverInto(purchase, shownAt, amounts, now.getTime())
    const account = accounts
      .get(purchase.customerRef)
      ?.find((each) => each.productRef === productRef)
    const packs = account && packsBeside(purchase, account, shownAt, amounts)
    const counted = { ...used, carriedOverMicros, packs }
    const conversion = conversions.get(purchase.currency)
    const plan = planToBill(planSnapshot, purchase, period)
    const shown = { purchase, customerRefs, packs: account, at: shownAt, conversion }
    usages.set(purchase.reference, {
      ...purchaseUsage(plan, counted, period, conversion),
      ...(await readChargedUsage(parts, caller, shown)),
    })
  }
  return usages
}

function carriedOverInto(
  purchase: Purchase,
  shownAt: Date,
  amounts: ReadonlyMap<string, bigint>,
  nowMs: number,
): bigint {
  const { planSnapshot: plan } = purchase
  if (plan === null || rollOverLimitMicros(plan) === undefined) return 0n
  const entitlement = compileEntitlement(purchase, plan, { now: shownAt, customerRefs: [] })
  const period = currentPeriod(entitlement, shownAt.getTime())
  return period === undefined ? 0n : carriedOverMicros(entitlement, period, amounts, nowMs)
}

/** Returns the units of packs of the meter `requests`. Undefined if the purchase has ended. */
function packsBeside(
  purchase: Purchase,
  packs: PackAccount,
  shownAt: Date,
  amounts: ReadonlyMap<string, bigint>,
): PackUnits | undefined {
  if (purchase.planSnapshot === null || purchase.endedAt !== null) return undefined
  const context = { now: shownAt, customerRefs: [], packs }
  const entitlement = compileEntitlement(purchase, purchase.planSnapshot, context)
  const period = currentPeriod(entitlement, shownAt.getTime())
  if (period === undefined) return undefined
  return packUnits(entitlement, requestsMeterName, period, amounts, shownAt.getTime())
}

/** Returns the times of customers on test clocks. A list has customers of several clocks, so the time of its request is not theirs. */
function readClocks(
  parts: PurchaseViewParts,
  caller: Caller,
  purchases: readonly Purchase[],
): Promise<ReadonlyMap<string, Date>> {
  const { providerId, environment } = caller
  if (!hasTestClocks(environment)) return Promise.resolve(new Map())
  const customers = purchases.map(({ customerRef }) => ({ providerId, customerRef }))
  return read(parts, caller, (sql) => listClockTimes(sql, environment, customers))
}

/** Returns the current time, or the last instant of a purchase that has ended. */
function usageInstant(purchase: Purchase, now: Date): Date {
  const endMs = (purchase.endedAt ?? purchase.endDate)?.getTime() ?? Infinity
  return new Date(Math.min(now.getTime(), endMs - 1))
}
