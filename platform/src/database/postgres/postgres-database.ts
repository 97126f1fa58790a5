import postgres, { type Sql } from 'postgres'
import type { Database } from '../database.ts'

export type PostgresOptions = {
  readonly url: string
  /** Connections per pool; there are three pools. */
  readonly poolMax?: number
  readonly connectTimeoutSeconds?: number
  readonly idleTimeoutSeconds?: number
  readonly statementTimeoutMs?: number
  readonly lockTimeoutMs?: number
  /** A transaction that waits for its own client longer than this is ended by the server, and its locks with it. */
  readonly idleInTransactionTimeoutMs?: number
  /** The server refuses every change. */
  readonly isReadOnly?: boolean
}

const environments = ['sandbox', 'live'] as const

/**
 * Rows come as the columns are named: repositories map to camel case themselves. `bigint` columns, and so `count(*)`,
 * come as JavaScript's bigint, since money is kept in them and no digit may be lost unseen; as a parameter their text
 * does as well. `numeric` comes as text, `timestamptz` as Date.
 */
export function createPostgresDatabase(options: PostgresOptions): Database {
  const control = openPool(options, 'control')
  const pools = new Map<string, Sql>(environments.map((each) => [each, openPool(options, each)]))
  const all = [control, ...pools.values()]
  return {
    control,
    in(environment) {
      const pool = pools.get(environment)
      if (pool === undefined) throw new Error(`there is no environment ${environment}`)
      return pool
    },
    async ping() {
      await control`SELECT 1`
    },
    async close() {
      await Promise.all(all.map((pool) => pool.end({ timeout: 10 })))
    },
  }
}

function openPool(options: PostgresOptions, schema: string): Sql {
  return postgres(options.url, {
    max: options.poolMax ?? 8,
    connect_timeout: options.connectTimeoutSeconds ?? 10,
    idle_timeout: options.idleTimeoutSeconds ?? 60,
    onnotice: () => {},
    types: { bigint: postgres.BigInt },
    connection: {
      application_name: `tollgate ${schema}`,
      search_path: schema,
      timezone: 'UTC',
      statement_timeout: options.statementTimeoutMs ?? 10_000,
      lock_timeout: options.lockTimeoutMs ?? 5_000,
      idle_in_transaction_session_timeout: options.idleInTransactionTimeoutMs ?? 15_000,
      ...(options.isReadOnly === true && { default_transaction_read_only: true }),
    },
  })
}
