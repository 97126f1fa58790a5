import type { Queryable } from '@tollgate/platform/database/database'
import type { UsageNotes } from '../billing/decide-usage-bill.ts'
import { listPurchases, type Purchase } from '../purchases/repository.ts'
import type { UnbilledUsage } from './measure-unbilled.ts'

/** Up to where the usage of purchases is billed, by their references. Every bill moves it. */
export type UsageNotesOf = ReadonlyMap<string, UsageNotes>

const purchasesPerPage = 500

/** The customer's purchases whose usage is billed, or will be. */
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

/** What the notes are once these bills were made. */
export function billedNotesOf(
  before: UsageNotesOf,
  billed: readonly UnbilledUsage[],
): UsageNotesOf {
  const notes = new Map(before)
  for (const { toBill } of billed) notes.set(toBill.purchase.reference, toBill.notes)
  return notes
}

/** Whether nobody billed usage of the customer, or started a purchase that is billed by usage, since it was measured. */
export async function isAsMeasured(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  notes: UsageNotesOf,
): Promise<boolean> {
  const purchases = await listBillable(sql, providerId, customerRef)
  return purchases.every((purchase) => {
    const known = notes.get(purchase.reference)
    return (
      known !== undefined &&
      isSame(known.nextUsageBillAt, purchase.nextUsageBillAt) &&
      isSame(known.usageClosesAt, purchase.usageClosesAt)
    )
  })
}

function isSame(one: Date | null, other: Date | null): boolean {
  return one?.getTime() === other?.getTime()
}
