import type { Sql, TransactionSql } from 'postgres'
import type { ProviderRows } from '../database.ts'

/** Read by the policies of every table; see `isolate-tables.ts`. */
export const providerSetting = 'tollgate.provider_id'

type Body<Result> = (sql: TransactionSql) => Promise<Result>

/** The pool's connections have the role of requests. */
export function providerRows(pool: Sql, providerId: string): ProviderRows {
  if (providerId === '') throw new Error('there is no provider without an id')
  return {
    read: (body) =>
      new Promise((resolve, reject) => {
        // When only the end of the transaction fails, the rows were read all the same.
        beginAs(pool, providerId, 'read only', async (sql) => resolve(await body(sql))).catch(
          reject,
        )
      }),
    write: (body) => beginAs(pool, providerId, '', body),
  }
}

async function beginAs<Result>(
  pool: Sql,
  providerId: string,
  options: string,
  body: Body<Result>,
): Promise<Result> {
  const outcome = await pool.begin(options, async (sql) => {
    // Sent together with the body's first statement, and before it. It ends with the transaction, so that whoever has
    // the connection next sees nothing; should it fail, the transaction does.
    void sql`select set_config(${providerSetting}, ${providerId}, true)`.execute()
    return { result: await body(sql) }
  })
  return (outcome as { result: Result }).result
}
