import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'

export type PageRange = { readonly limit: number; readonly offset: number }

/** Returns the rows of one page of the matching rows, and the total number of matching rows. */
export async function selectPage<Row extends object>(
  sql: Queryable,
  matching: Fragment,
  order: Fragment,
  { limit, offset }: PageRange,
): Promise<{ rows: readonly Row[]; total: number }> {
  const rows = await sql<Row[]>`
    select * ${matching} order by ${order} limit ${limit} offset ${offset}`
  const [counted] = await sql<{ total: number }[]>`select count(*)::int as total ${matching}`
  return { rows, total: counted?.total ?? 0 }
}
