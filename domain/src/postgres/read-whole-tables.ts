import type { Database, Queryable } from '@tollgate/platform/database/database'

/** A statement of a request must be quick; one that adds up whole tables takes minutes where they are large. */
const statementTimeout = '3600s'

/** Runs it in a transaction that changes nothing, and whose statements may take their time. */
export async function readWholeTables<Result>(
  pool: ReturnType<Database['in']>,
  body: (sql: Queryable) => Promise<Result>,
): Promise<Result> {
  const { result } = await pool.begin('read only', async (sql) => {
    await sql`select set_config('statement_timeout', ${statementTimeout}, true)`
    return { result: await body(sql) }
  })
  return result
}
