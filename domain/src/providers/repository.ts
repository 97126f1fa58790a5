import type { Queryable } from '@tollgate/platform/database/database'
import type { Environment } from '@tollgate/schemas/environment'
import type { CycleMode } from '../periods/periods.ts'

export type Provider = {
  readonly providerId: string
  readonly name: string
  readonly email: string | null
  readonly defaultCurrency: string
  readonly cycleMode: CycleMode
  /** Whether the provider is set up for live. In sandbox all providers are set up. */
  readonly isLive: boolean
  readonly createdAt: Date
}

type ProviderRow = {
  provider_id: string
  name: string
  email: string | null
  default_currency: string
  cycle_mode: CycleMode
  is_live: boolean
  created_at: Date
}

export async function insertProvider(sql: Queryable, provider: Provider): Promise<void> {
  await sql`
    insert into providers
      (provider_id, name, email, default_currency, cycle_mode, is_live, created_at)
    values (${provider.providerId}, ${provider.name}, ${provider.email}, ${provider.defaultCurrency},
      ${provider.cycleMode}, ${provider.isLive}, ${provider.createdAt})`
}

/** Returns false if there is no such provider. */
export async function setProviderName(
  sql: Queryable,
  providerId: string,
  name: string,
): Promise<boolean> {
  const rows = await sql`
    update providers set name = ${name} where provider_id = ${providerId} returning 1`
  return rows.length === 1
}

/** Returns false if there is no such provider. */
export async function setProviderLive(sql: Queryable, providerId: string): Promise<boolean> {
  const rows = await sql`
    update providers set is_live = true where provider_id = ${providerId} returning 1`
  return rows.length === 1
}

export async function findProvider(
  sql: Queryable,
  providerId: string,
): Promise<Provider | undefined> {
  const [row] = await sql<ProviderRow[]>`select * from providers where provider_id = ${providerId}`
  return row === undefined ? undefined : fromRow(row)
}

export async function listProviders(sql: Queryable): Promise<Provider[]> {
  const rows = await sql<ProviderRow[]>`select * from providers order by created_at, provider_id`
  return rows.map(fromRow)
}

function fromRow(row: ProviderRow): Provider {
  return {
    providerId: row.provider_id,
    name: row.name,
    email: row.email,
    defaultCurrency: row.default_currency,
    cycleMode: row.cycle_mode,
    isLive: row.is_live,
    createdAt: row.created_at,
  }
}

/** Returns the only provider of the environment; undefined if there are several or none. */
export async function findSoleProvider(
  sql: Queryable,
  environment: Environment,
): Promise<string | undefined> {
  const rows = await sql<{ provider_id: string }[]>`
    select provider_id from providers
    ${environment === 'live' ? sql`where is_live` : sql``} limit 2`
  return rows.length === 1 ? rows[0]!.provider_id : undefined
}
