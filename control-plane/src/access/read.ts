import type { ProviderDatabases, Queryable } from '@tollgate/platform/database/database'
import type { AskOutside } from '@tollgate/domain/unit-of-work/outside-question'
import type { Caller } from './caller.ts'

/** The parts with which a request reads. Row-level security limits each provider to its own rows. */
export type ReadParts = {
  readonly database: ProviderDatabases
  /** Asks tax services of providers, outside of transactions. */
  readonly ask?: AskOutside | undefined
}

type Body<Result> = (sql: Queryable) => Promise<Result>

/**
 * Reads the caller's rows. Rows of other providers are invisible to the statements of the body, which can change nothing. Send
 * statements that do not depend on each other together: they take one round trip.
 */
export function read<Result>(
  { database }: ReadParts,
  { providerId, environment }: Caller,
  body: Body<Result>,
): Promise<Result> {
  return database.of(providerId).in(environment).read(body)
}

/** Like `read`, for rows that belong to no environment: the caller's provider and its keys. */
export function readControl<Result>(
  { database }: ReadParts,
  { providerId }: Pick<Caller, 'providerId'>,
  body: Body<Result>,
): Promise<Result> {
  return database.of(providerId).control.read(body)
}
