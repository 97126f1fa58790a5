import type { Queryable } from '@tollgate/platform/database/database'
import type { PurchaseStatus } from '@tollgate/schemas/http/purchases'

export async function countPurchasesByStatus(
  sql: Queryable,
  providerId: string,
): Promise<Map<PurchaseStatus, number>> {
  const rows = await sql<{ status: PurchaseStatus; total: number }[]>`
    select status, count(*)::int as total from purchases
    where provider_id = ${providerId} group by status`
  return new Map(rows.map(({ status, total }) => [status, total]))
}
