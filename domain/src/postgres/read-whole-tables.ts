import type { Database, Queryable } from '@tollgate/platform/database/database'

/** Statements of requests must be quick. Statements that sum whole large tables can take minutes. */
const statementTimeout = '3600s'

/** Runs the body in a read-only transaction with a long statement timeout. */
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
