import postgres, { type Sql } from 'postgres'
import type { Database } from '../database.ts'
import { providerRows } from './provider-rows.ts'
import { jobsRole, requestsRole } from './roles.ts'

export type PostgresOptions = {
  readonly url: string
  /** Another login for what is done for one provider. Default: `url`. */
  readonly requestsUrl?: string
  /** As the login itself, which owns the tables: nothing is hidden from it. Default: in the roles of the services. */
  readonly isOwner?: boolean
  /** Connections per pool; there are two pools for each of the three schemas. */
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
  /** Throws where a pool does not answer, or works as somebody else than it should. */
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
 * Without its role a connection is the login's, which may see the rows of all providers: everything would seem to work.
 * So it goes when a pooler drops the parameters that a connection is opened with, or the address sets others.
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

/** The role 'none' is the login's own. */
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
