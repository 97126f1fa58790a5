import type { Queryable } from '@tollgate/platform/database/database'
import type { OwnPeriods } from './plan-changes.ts'
import { listPurchases, type Purchase } from './repository.ts'

const pageRows = 1_000

/** A customer's purchases of the plans of one product without packs, and which of them were charged for a period of their own. */
export type ChangeHistory = {
  readonly purchases: readonly Purchase[]
  readonly ownPeriods: OwnPeriods
}

export async function readChangeHistory(
  sql: Queryable,
  providerId: string,
  { customerRef, productRef }: Pick<Purchase, 'customerRef' | 'productRef'>,
): Promise<ChangeHistory> {
  const found: Purchase[] = []
  // All pages are read, because payments of old purchases matter too.
  for (let rows = pageRows; rows === pageRows;) {
    const filter = { customerRef, productRef, rowsMax: pageRows, offset: found.length }
    const page = await listPurchases(sql, providerId, filter)
    found.push(...page)
    rows = page.length
  }
  const purchases = found.filter(({ planRef, isPack }) => planRef !== null && !isPack)
  const references = purchases.map(({ reference }) => reference)
  const rows = await sql<{ purchase_ref: string }[]>`
    select distinct purchase_ref from billed_periods
    where provider_id = ${providerId} and purchase_ref = any(${references}) and part = 'recurring'`
  return { purchases, ownPeriods: new Set(rows.map((row) => row.purchase_ref)) }
}
