import type { ProviderDatabases, Queryable } from '@tollgate/platform/database/database'
import type { Caller } from './caller.ts'

/** What a request reads with. Each provider sees its own rows. */
export type ReadParts = { readonly database: ProviderDatabases }

type Body<Result> = (sql: Queryable) => Promise<Result>

/**
 * Reads the caller's rows in one short, read-only transaction, in which rows of other providers do not exist. Fetch what comes
 * from other stores before or after it.
 */
export function read<Result>(
  { database }: ReadParts,
  { providerId, environment }: Caller,
  body: Body<Result>,
): Promise<Result> {
  return database.of(providerId).in(environment).read(body)
}

/** The same for rows of neither environment: the caller's provider and its keys. */
export function readControl<Result>(
  { database }: ReadParts,
  { providerId }: Pick<Caller, 'providerId'>,
  body: Body<Result>,
): Promise<Result> {
  return database.of(providerId).control.read(body)
}
