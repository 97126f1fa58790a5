import type { ProviderDatabases, Queryable } from '@tollgate/platform/database/database'
import type { Caller } from './caller.ts'

/** Each provider sees its own rows. */
export type ReadParts = { readonly database: ProviderDatabases }

type Body<Result> = (sql: Queryable) => Promise<Result>

/**
 * Reads the caller's rows in one short transaction, in which those of other providers do not exist and nothing can be
 * written. What the body needs from anywhere else is fetched before or after it.
 */
export function read<Result>(
  { database }: ReadParts,
  { providerId, environment }: Caller,
  body: Body<Result>,
): Promise<Result> {
  return database.of(providerId).in(environment).read(body)
}

/** The same for what belongs to neither environment: the caller's provider and its keys. */
export function readControl<Result>(
  { database }: ReadParts,
  { providerId }: Pick<Caller, 'providerId'>,
  body: Body<Result>,
): Promise<Result> {
  return database.of(providerId).control.read(body)
}
