import type { Queryable } from '@tollgate/platform/database/database'
import { readCreditConversion } from '../billing/credit-conversion.ts'
import { periodEndingAt } from '../billing/decide-usage-bill.ts'
import type { EarlierPeriod } from '../billing/prepare-usage-bill.ts'
import { farFuture } from '../entitlements/compile-entitlement.ts'
import { findCustomer, listCurrentReferences } from '../customers/repository.ts'
import { listBilledMinimums } from '../invoices/billed-minimums.ts'
import { listBilledPeriods } from '../invoices/billed-periods.ts'
import { listBilledUsage } from '../invoices/billed-usage.ts'
import { findPackAccount, type PackAccount } from '../packs/repository.ts'
import { usagePeriodAt } from '../periods/periods.ts'
import { billsUsage } from '../pricing/billed-charges.ts'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import type { CreditConversion } from '../pricing/line-inputs.ts'
import { cycleOf } from '../purchases/access.ts'
import { findEndOfPrevious } from '../purchases/purchase-fields-repository.ts'
import { listPurchases, type Purchase } from '../purchases/repository.ts'
import { hasDifference, type UsageDifference } from './change-usage.ts'

/** A purchase whose usage is corrected, with everything that its price needs. */
export type CorrectedPurchase = {
  readonly purchase: Purchase
  readonly customerRefs: readonly string[]
  readonly endOfPrevious: Date | undefined
  readonly conversion: CreditConversion
  readonly packs: PackAccount | undefined
  readonly billed: readonly EarlierPeriod[]
  readonly open: readonly ChargedPeriod[]
}

/** Purchases of one customer, and billed periods of one purchase, that a dry run looks at. */
const purchasesMax = 100
const periodsMax = 512

/**
 * Returns the purchases of the customer that bill the usage, with the periods that contain it. Empty for a reference that no customer has.
 */
export async function readCorrectedPurchases(
  sql: Queryable,
  providerId: string,
  {
    customerRef: anyRef,
    productRef,
  }: { readonly customerRef: string; readonly productRef: string },
  differences: readonly UsageDifference[],
): Promise<CorrectedPurchase[]> {
  const customer = await findCustomer(sql, providerId, anyRef)
  if (customer === undefined) return []
  const customerRef = customer.reference
  const references = await listCurrentReferences(sql, [{ providerId, customerRef }])
  const purchases = await listPurchases(sql, providerId, {
    customerRef,
    productRef: productRef === '' ? undefined : productRef,
    isOfPlan: true,
    rowsMax: purchasesMax,
  })
  const read: CorrectedPurchase[] = []
  for (const purchase of purchases) {
    const { status, planSnapshot } = purchase
    if (status === 'pending' || status === 'refunded') continue
    if (planSnapshot === null || !billsUsage(planSnapshot)) continue
    const endOfPrevious = await findEndOfPrevious(sql, providerId, purchase)
    const isTouched = (period: ChargedPeriod): boolean =>
      hasDifference(purchase, period, endOfPrevious, differences)
    const all = await listBilledPeriods(sql, providerId, purchase.reference, 'usage', periodsMax)
    const touched = all.filter(isTouched)
    const starts = touched.map(({ start }) => start)
    const { reference } = purchase
    const usage = await listBilledUsage(sql, providerId, reference, starts)
    const minimums = await listBilledMinimums(sql, providerId, reference, starts)
    read.push({
      purchase,
      customerRefs: references.get(customerRef) ?? [customerRef],
      endOfPrevious,
      conversion: await readCreditConversion({ sql, providerId }, purchase.currency),
      packs: await findPackAccount(sql, providerId, purchase),
      billed: touched.flatMap(({ start, end }) => {
        const billed = usage.get(start.getTime())
        const minimumMinor = minimums.get(start.getTime())
        return billed === undefined ? [] : [{ start, end, billed, minimumMinor, isCorrected: true }]
      }),
      open: openPeriods(purchase, all, differences).filter(isTouched),
    })
  }
  return read
}

/** Returns the periods of the purchase that contain differences and are not billed. */
function openPeriods(
  purchase: Purchase,
  billed: readonly ChargedPeriod[],
  differences: readonly UsageDifference[],
): ChargedPeriod[] {
  const { nextUsageBillAt, endedAt } = purchase
  if (nextUsageBillAt === null) return []
  const cycle = cycleOf(purchase)
  const starts = new Map<number, ChargedPeriod>()
  for (const { timestamp } of differences) {
    const end =
      cycle === undefined
        ? farFuture
        : usagePeriodAt(cycle, purchase.startDate, new Date(timestamp)).end
    const period = periodEndingAt(purchase, end)
    if (period === undefined || period.end < nextUsageBillAt) continue
    const isBilled = billed.some(({ start }) => start.getTime() === period.start.getTime())
    if (isBilled || (endedAt !== null && endedAt <= period.start)) continue
    const isCut = endedAt !== null && endedAt < period.end
    starts.set(period.start.getTime(), isCut ? { start: period.start, end: endedAt } : period)
  }
  return [...starts.values()]
}
