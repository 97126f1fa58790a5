import type { ProviderDatabases } from '@tollgate/platform/database/database'
import { setActor } from '../audit/actor.ts'
import type { PublicationTarget } from '../publications/repository.ts'
import { answeringQuestions, type AskOutside, type OutsideQuestion } from './outside-question.ts'
import type { Operation, UnitOfWork } from './unit-of-work.ts'

/**
 * unique_violation: another transaction created the same row first, and another attempt finds it and decides again.
 * serialization_failure and deadlock_detected: the database requests another attempt.
 */
const retryableCodes: ReadonlySet<string> = new Set(['23505', '40001', '40P01'])

/** Each failed attempt means that another transaction succeeded, so a few attempts are enough. */
const attemptsMax = 5

export type Committed<Result> = {
  readonly result: Result
  readonly publications: readonly PublicationTarget[]
}

/**
 * Runs the body in a transaction of the operation's provider. The body may run again from the start, so it must have no effects
 * outside of its transaction. Questions that it throws are asked between two attempts.
 */
export function runUnitOfWork<Result>(
  database: ProviderDatabases,
  operation: Operation,
  body: (work: UnitOfWork) => Promise<Result>,
  ask?: AskOutside,
): Promise<Committed<Result>> {
  return answeringQuestions(ask, (asked) => runAttempts(database, operation, asked, body))
}

async function runAttempts<Result>(
  database: ProviderDatabases,
  operation: Operation,
  asked: readonly OutsideQuestion[],
  body: (work: UnitOfWork) => Promise<Result>,
): Promise<Committed<Result>> {
  const rows = database.of(operation.providerId).in(operation.environment)
  for (let attempt = 1; ; attempt += 1) {
    const publications: PublicationTarget[] = []
    try {
      const result = await rows.write((sql) => {
        setActor(sql, operation.actor)
        return body({ ...operation, sql, publications, asked })
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
