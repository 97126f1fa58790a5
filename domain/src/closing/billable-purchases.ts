import type { Queryable } from '@tollgate/platform/database/database'
import type { UsageBillingDates } from '../billing/decide-usage-bill.ts'
import { listPurchases, type Purchase } from '../purchases/repository.ts'
import type { UnbilledUsage } from './measure-unbilled.ts'

/** The billing dates of purchases, keyed by reference: up to when their usage is billed. Every bill moves one of them. */
export type BillingDates = ReadonlyMap<string, UsageBillingDates & Pick<Purchase, 'usageBilledTo'>>

const purchasesPerPage = 500

/** Returns the customer's purchases whose usage is billed now or later. */
export async function listBillable(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<Purchase[]> {
  const billable: Purchase[] = []
  for (let offset = 0; ; offset += purchasesPerPage) {
    const filter = { customerRef, rowsMax: purchasesPerPage, offset }
    const page = await listPurchases(sql, providerId, filter)
    billable.push(...page.filter(isBillable))
    if (page.length < purchasesPerPage) return billable
  }
}

function isBillable({ nextUsageBillAt, usageClosesAt }: Purchase): boolean {
  return nextUsageBillAt !== null || usageClosesAt !== null
}

/** Returns the billing dates after the given bills are made. */
export function billingDatesAfter(
  before: BillingDates,
  billed: readonly UnbilledUsage[],
): BillingDates {
  const notes = new Map(before)
  for (const { toBill } of billed) {
    const { reference, usageBilledTo } = toBill.purchase
    notes.set(reference, { ...toBill.billingDates, usageBilledTo })
  }
  return notes
}

/**
 * Returns whether the customer's usage billing is unchanged since it was measured: no usage was billed, and no purchase
 * with usage billing was started.
 */
export async function isBillingUnchanged(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  notes: BillingDates,
): Promise<boolean> {
  const purchases = await listBillable(sql, providerId, customerRef)
  return purchases.every((purchase) => {
    const known = notes.get(purchase.reference)
    return (
      known !== undefined &&
      isSame(known.nextUsageBillAt, purchase.nextUsageBillAt) &&
      isSame(known.usageClosesAt, purchase.usageClosesAt) &&
      isSame(known.usageBilledTo, purchase.usageBilledTo)
    )
  })
}

function isSame(one: Date | null | undefined, other: Date | null | undefined): boolean {
  return one?.getTime() === other?.getTime()
}
