import type { UsageDelays } from '../billing/decide-usage-bill.ts'
import type { Customer } from '../customers/repository.ts'
import { listPurchases, type Purchase } from '../purchases/repository.ts'
import type { ReadingAt } from '../unit-of-work/unit-of-work.ts'
import { planRenewal } from './plan-renewal.ts'
import type { PlannedInvoice } from './price-invoices.ts'
import { readBills, type BillsToPreview, type PurchaseAhead, type ReadBills } from './read-bills.ts'

/** Maximum number of other purchases of the customer, the newest first, that a preview takes into account. */
const besidesMax = 20

/** Maximum number of renewals of one of them. */
const renewalsMax = 64

/**
 * Reads the bills of the customer's other purchases, by product. They are issued before the previewed ones, or between them, and use
 * the balance and the pending items that the previewed ones would use. Purchases in other currencies use none of it.
 */
export async function readBeside(
  at: ReadingAt,
  customer: Customer,
  purchases: readonly PurchaseAhead[],
  previewed: readonly PlannedInvoice[],
  delays: UsageDelays,
): Promise<ReadBills[]> {
  const until = lastDateOf(previewed)
  const currencies = new Set(previewed.map(({ currency }) => currency))
  if (until === undefined) return []
  const { sql, providerId } = at
  const known = new Set(purchases.map(({ purchase }) => purchase.reference))
  const filter = { customerRef: customer.reference, isOfPlan: true, rowsMax: besidesMax } as const
  const others = (await listPurchases(sql, providerId, filter)).filter(
    (purchase) =>
      !known.has(purchase.reference) && currencies.has(purchase.currency) && isBilled(purchase),
  )
  const read: ReadBills[] = []
  for (const product of new Set(others.map(({ productRef }) => productRef))) {
    const ofProduct = others.filter(({ productRef }) => productRef === product)
    const ahead = ofProduct.map((purchase) => ({ purchase }))
    const { bills, ...of } = await readBills(at, customer, ahead, delays)
    read.push({ ...of, bills: bills.map((each) => withRenewalsUntil(each, until)) })
  }
  return read
}

/** Returns when the last previewed invoice is issued. Undefined if none has a date. */
function lastDateOf(previewed: readonly PlannedInvoice[]): Date | undefined {
  const dates = previewed.flatMap(({ at }) => (at === undefined ? [] : [at.getTime()]))
  return dates.length === 0 ? undefined : new Date(Math.max(...dates))
}

function isBilled(purchase: Purchase): boolean {
  const { planSnapshot, nextBillingDate, nextUsageBillAt, usageClosesAt } = purchase
  const dates = [nextBillingDate, nextUsageBillAt, usageClosesAt]
  return planSnapshot !== null && dates.some((date) => date !== null)
}

/** Adds the renewals up to that time. A payment is assumed to succeed, and usage of later periods is not known. */
function withRenewalsUntil(of: BillsToPreview, until: Date): BillsToPreview {
  const renewals = [...of.renewals]
  for (let next = renewals.at(-1)?.next; next !== undefined && renewals.length < renewalsMax;) {
    const { nextBillingDate } = next
    if (nextBillingDate === null || nextBillingDate > until) break
    const renewal = planRenewal(next, nextBillingDate, true)
    if (renewal === undefined) break
    renewals.push({ ...renewal, purchase: next })
    next = renewal.next
  }
  return { ...of, renewals }
}
