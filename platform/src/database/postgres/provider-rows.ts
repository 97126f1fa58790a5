import type { Sql, TransactionSql } from 'postgres'
import type { ProviderRows, Queryable } from '../database.ts'

/** Setting that names the provider of a transaction. The policies of every table read it; see `isolate-tables.ts`. */
export const providerSetting = 'tollgate.provider_id'

/** Returns access to the rows of one provider. The connections of `pool` must have the role of requests. */
export function providerRows(pool: Sql, providerId: string): ProviderRows {
  if (providerId === '') throw new Error('there is no provider without an id')
  return {
    read: async (body) => body(scopedTo(pool, providerId)),
    write: (body) => writeAs(pool, providerId, body),
  }
}

type ScopedPool = Sql & { scoped?(name: string, value: string): Queryable }

/**
 * Returns the pool with the provider set for each statement. The setting and the statement are two messages of one transaction,
 * which PostgreSQL ends with the statement: no statement runs if the setting failed, and the next user of the connection does not
 * see the setting, whatever happens in between. The transaction is read-only.
 */
function scopedTo(pool: ScopedPool, providerId: string): Queryable {
  // Added by `patches/postgres+3.4.9.patch`.
  if (pool.scoped === undefined) {
    throw new Error('The package postgres lacks its patch. Run `npm ci`.')
  }
  return pool.scoped(providerSetting, providerId)
}

async function writeAs<Result>(
  pool: Sql,
  providerId: string,
  body: (sql: TransactionSql) => Promise<Result>,
): Promise<Result> {
  const outcome = await pool.begin(async (sql) => {
    // Sent in one round trip with the first statement of the body, and before it. The setting ends with the transaction, so the
    // next user of the connection does not see it. If it fails, the transaction fails.
    void sql`select set_config(${providerSetting}, ${providerId}, true)`.execute()
    return { result: await body(sql) }
  })
  return (outcome as { result: Result }).result
}
