import type { Fragment } from 'postgres'
import type { Database, Queryable } from '@tollgate/platform/database/database'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { digestOfParts } from './digest.ts'

/** An MCP server whose customers sign in at its own authorization server. */
export type AuthServer = {
  readonly environment: Environment
  readonly providerId: string
  readonly productRef: string
  readonly subdomain: string
}

type AuthServerRow = { provider_id: string; product_ref: string; subdomain: string }

/**
 * Finds the server by its subdomain. The provider is not known yet, so `database` sees the servers of all providers.
 * Returns undefined if the product was deleted.
 */
export async function findAuthServer(
  database: Database,
  environment: Environment,
  subdomain: string,
): Promise<AuthServer | undefined> {
  return findIn(database, environment, (sql) => sql`server.subdomain = ${subdomain}`)
}

/** Finds the server of a product, in the environment of the product. */
export function findAuthServerOfProduct(
  database: Database,
  productRef: string,
): Promise<AuthServer | undefined> {
  return findInEach(database, (sql) => sql`server.product_ref = ${productRef}`)
}

/** Finds the server at which a client was registered. A client is registered at one server only. */
export function findAuthServerOfClient(
  database: Database,
  clientId: string,
): Promise<AuthServer | undefined> {
  return findInEach(
    database,
    (sql) => sql`
      (server.provider_id, server.product_ref) = any (
        select provider_id, product_ref from oauth_records
        where client_sha256 = ${digestOfParts(clientId)} limit 1)`,
  )
}

type Condition = (sql: Queryable) => Fragment

async function findInEach(
  database: Database,
  condition: Condition,
): Promise<AuthServer | undefined> {
  for (const environment of environments) {
    const found = await findIn(database, environment, condition)
    if (found !== undefined) return found
  }
  return undefined
}

async function findIn(
  database: Database,
  environment: Environment,
  condition: Condition,
): Promise<AuthServer | undefined> {
  const sql = database.in(environment)
  const rows = await sql<AuthServerRow[]>`
    select server.provider_id, server.product_ref, server.subdomain from mcp_servers server
    join products on products.provider_id = server.provider_id
      and products.reference = server.product_ref and products.removed_at is null
    where ${condition(sql)}`
  return fromRows(environment, rows)
}

function fromRows(
  environment: Environment,
  [row]: readonly AuthServerRow[],
): AuthServer | undefined {
  return (
    row && {
      environment,
      providerId: row.provider_id,
      productRef: row.product_ref,
      subdomain: row.subdomain,
    }
  )
}
