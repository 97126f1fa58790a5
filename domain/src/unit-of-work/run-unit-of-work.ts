import type { ProviderDatabases } from '@tollgate/platform/database/database'
import { nameActor } from '../audit/actor.ts'
import type { PublicationTarget } from '../publications/repository.ts'
import type { Operation, UnitOfWork } from './unit-of-work.ts'

/**
 * unique_violation: somebody else made the same thing first; a second look finds it and decides anew.
 * serialization_failure and deadlock_detected: the database asks for another try.
 */
const retryableCodes: ReadonlySet<string> = new Set(['23505', '40001', '40P01'])

/** Each attempt that fails means that another caller's succeeded, so a few are plenty. */
const attemptsMax = 5

export type Committed<Result> = {
  readonly result: Result
  readonly publications: readonly PublicationTarget[]
}

/**
 * Runs the body in a transaction of the operation's provider. Because it may run again from the start, it must have no
 * effects but those of its transaction.
 */
export async function runUnitOfWork<Result>(
  database: ProviderDatabases,
  operation: Operation,
  body: (work: UnitOfWork) => Promise<Result>,
): Promise<Committed<Result>> {
  const rows = database.of(operation.providerId).in(operation.environment)
  for (let attempt = 1; ; attempt += 1) {
    const publications: PublicationTarget[] = []
    try {
      const result = await rows.write((sql) => {
        nameActor(sql, operation.actor)
        return body({ ...operation, sql, publications })
      })
      return { result, publications }
    } catch (error) {
      if (attempt >= attemptsMax || !isRetryable(error)) throw error
    }
  }
}

function isRetryable(error: unknown): boolean {
  const code = (error as { code?: unknown }).code
  return typeof code === 'string' && retryableCodes.has(code)
}
