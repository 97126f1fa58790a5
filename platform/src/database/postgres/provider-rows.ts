import type { Sql, TransactionSql } from 'postgres'
import type { ProviderRows } from '../database.ts'

/** Setting that names the provider of a transaction. The policies of every table read it; see `isolate-tables.ts`. */
export const providerSetting = 'tollgate.provider_id'

type Body<Result> = (sql: TransactionSql) => Promise<Result>

/** Returns access to the rows of one provider. The connections of `pool` must have the role of requests. */
export function providerRows(pool: Sql, providerId: string): ProviderRows {
  if (providerId === '') throw new Error('there is no provider without an id')
  return {
    read: (body) =>
      new Promise((resolve, reject) => {
        // If only the end of the transaction fails, the rows were read and remain valid.
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
    // Sent in one round trip with the first statement of the body, and before it. The setting ends with the transaction, so the
    // next user of the connection does not see it. If it fails, the transaction fails.
    void sql`select set_config(${providerSetting}, ${providerId}, true)`.execute()
    return { result: await body(sql) }
  })
  return (outcome as { result: Result }).result
}
