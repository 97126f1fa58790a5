import postgres, { type Sql } from 'postgres'
import type { Database } from '../database.ts'
import { providerRows } from './provider-rows.ts'
import { jobsRole, requestsRole } from './roles.ts'

export type PostgresOptions = {
  readonly url: string
  /** URL with a separate login for requests. Default: `url`. */
  readonly requestsUrl?: string
  /** True to work as the login itself, which owns the tables and sees all rows. Default: false, with the roles of the services. */
  readonly isOwner?: boolean
  /** Maximum connections per pool. There are two pools for each of the three schemas. */
  readonly poolMax?: number
  readonly connectTimeoutSeconds?: number
  readonly idleTimeoutSeconds?: number
  readonly statementTimeoutMs?: number
  readonly lockTimeoutMs?: number
  /** PostgreSQL ends a transaction that waits longer than this for its client, and releases its locks. */
  readonly idleInTransactionTimeoutMs?: number
  /** True if PostgreSQL must refuse every change. */
  readonly isReadOnly?: boolean
}

const environments = ['sandbox', 'live'] as const

/**
 * Opens the connection pools. Rows have the names of the columns; repositories map them to camel case. `bigint` values, and so
 * `count(*)`, are returned as JavaScript's bigint, because money is stored in them and no digit may be lost. As parameters they may
 * also be text. `numeric` is returned as text, `timestamptz` as Date.
 */
export function createPostgresDatabase(options: PostgresOptions): Database {
  const { url, requestsUrl = url, isOwner = false } = options
  const jobs = openPools({ ...options, url }, isOwner ? 'none' : jobsRole)
  const requests = openPools({ ...options, url: requestsUrl }, isOwner ? 'none' : requestsRole)
  return {
    control: jobs.control,
    in: (environment) => jobs.in(environment),
    of: (providerId) => ({
      control: providerRows(requests.control, providerId),
      in: (environment) => providerRows(requests.in(environment), providerId),
    }),
    async ping() {
      await jobs.requireRole()
      await requests.requireRole()
    },
    async close() {
      await Promise.all([jobs.close(), requests.close()])
    },
  }
}

type Pools = {
  readonly control: Sql
  readonly in: (environment: string) => Sql
  /** Throws if a pool does not answer, or its connections have another role than expected. */
  readonly requireRole: () => Promise<void>
  readonly close: () => Promise<void>
}

function openPools(options: PostgresOptions, role: string): Pools {
  const control = openPool(options, role, 'control')
  const pools = new Map<string, Sql>(
    environments.map((each) => [each, openPool(options, role, each)]),
  )
  return {
    control,
    in(environment) {
      const pool = pools.get(environment)
      if (pool === undefined) throw new Error(`there is no environment ${environment}`)
      return pool
    },
    async requireRole() {
      for (const pool of [control, ...pools.values()]) await requireRole(pool, role)
    },
    async close() {
      await Promise.all([control, ...pools.values()].map((pool) => pool.end({ timeout: 10 })))
    },
  }
}

/**
 * Throws if the connection does not have the expected role. Without it a connection works as the login, which may see the rows of
 * all providers, and everything would seem to work. That happens if a connection pooler drops startup parameters or the address
 * overrides them.
 */
async function requireRole(pool: Sql, role: string): Promise<void> {
  const [found] = await pool<{ role: string; login: string }[]>`
    select current_user as role, session_user as login`
  const { role: actual, login } = found!
  const expected = role === 'none' ? login : role
  if (actual === expected) return
  throw new Error(
    `A connection to PostgreSQL works as ${actual} in place of ${expected}: providers would not be kept apart. Neither the ` +
      'address nor a pooler in between may change or ignore the parameter "role" that it is opened with.',
  )
}

/** Opens a pool. The role 'none' means the login itself. */
function openPool(options: PostgresOptions, role: string, schema: string): Sql {
  return postgres(options.url, {
    max: options.poolMax ?? 8,
    connect_timeout: options.connectTimeoutSeconds ?? 10,
    idle_timeout: options.idleTimeoutSeconds ?? 60,
    onnotice: () => {},
    types: { bigint: postgres.BigInt },
    connection: {
      application_name: `tollgate ${schema}`,
      role,
      search_path: schema,
      timezone: 'UTC',
      statement_timeout: options.statementTimeoutMs ?? 10_000,
      lock_timeout: options.lockTimeoutMs ?? 5_000,
      idle_in_transaction_session_timeout: options.idleInTransactionTimeoutMs ?? 15_000,
      ...(options.isReadOnly === true && { default_transaction_read_only: true }),
    },
  })
}
