import type { ProviderDatabases } from '@tollgate/platform/database/database'
import { answeringQuestions, type AskOutside } from './outside-question.ts'
import type { Operation, ReadingAt } from './unit-of-work.ts'

export type AnsweredParts = {
  readonly database: ProviderDatabases
  readonly ask?: AskOutside | undefined
}

/**
 * Runs the body in a transaction that only reads, at the operation's time, and asks the questions that it throws. The body may run
 * again from the start. Without `ask`, no question is asked, and the result is an estimate.
 */
export function readAnswered<Result>(
  { database, ask }: AnsweredParts,
  { providerId, environment, now }: Pick<Operation, 'providerId' | 'environment' | 'now'>,
  body: (reading: ReadingAt) => Promise<Result>,
): Promise<Result> {
  const rows = database.of(providerId).in(environment)
  return answeringQuestions(ask, (asked) =>
    rows.read((sql) => {
      const at = { sql, providerId, environment, now }
      return body(ask === undefined ? at : { ...at, asked })
    }),
  )
}
