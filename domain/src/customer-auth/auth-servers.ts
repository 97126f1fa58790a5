import type { Database, Queryable } from '@tollgate/platform/database/database'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { digestOfParts } from './digest.ts'

/** An MCP server whose customers sign in at an authorization server of its own. */
export type AuthServer = {
  readonly environment: Environment
  readonly providerId: string
  readonly productRef: string
  readonly subdomain: string
}

type AuthServerRow = { provider_id: string; product_ref: string; subdomain: string }

/** Who calls is not known yet, so `database` sees the servers of all providers. Products that were deleted have none. */
export async function findAuthServer(
  database: Database,
  environment: Environment,
  subdomain: string,
): Promise<AuthServer | undefined> {
  const sql = database.in(environment)
  return fromRows(
    environment,
    await sql<AuthServerRow[]>`
    ${selectServers(sql)} where server.subdomain = ${subdomain}`,
  )
}

/** Finds the server of a product in the environment that has the product. */
export function findAuthServerOfProduct(
  database: Database,
  productRef: string,
): Promise<AuthServer | undefined> {
  return findInEach(async (environment) => {
    const sql = database.in(environment)
    return fromRows(
      environment,
      await sql<AuthServerRow[]>`
      ${selectServers(sql)} where server.product_ref = ${productRef}`,
    )
  })
}

/** Finds the only server that a client was registered at. */
export function findAuthServerOfClient(
  database: Database,
  clientId: string,
): Promise<AuthServer | undefined> {
  return findInEach(async (environment) => {
    const sql = database.in(environment)
    return fromRows(
      environment,
      await sql<AuthServerRow[]>`
      ${selectServers(sql)}
      where (server.provider_id, server.product_ref) = any (
        select provider_id, product_ref from oauth_records
        where client_sha256 = ${digestOfParts(clientId)} limit 1)`,
    )
  })
}

async function findInEach(
  find: (environment: Environment) => Promise<AuthServer | undefined>,
): Promise<AuthServer | undefined> {
  for (const environment of environments) {
    const found = await find(environment)
    if (found !== undefined) return found
  }
  return undefined
}

function selectServers(sql: Queryable) {
  return sql`
    select server.provider_id, server.product_ref, server.subdomain from mcp_servers server
    join products on products.provider_id = server.provider_id
      and products.reference = server.product_ref and products.removed_at is null`
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
