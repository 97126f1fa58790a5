import { AsyncLocalStorage } from 'node:async_hooks'
import type { ProviderRows, Queryable } from '@tollgate/platform/database/database'
import type { AuthAnswer } from './run-provider.ts'

/*
 * The library writes record by record: it consumes a code, then stores a refresh token, and we store the access token. A process
 * that dies in between would leave a code that is used up and brought nothing, or a refresh token that is spent without a
 * successor. So what a request writes is collected, and committed in one transaction before its answer is sent. A request
 * that is refused writes nothing.
 */

type Write = (sql: Queryable) => Promise<void>

const collected = new AsyncLocalStorage<Write[]>()

/** Something that may be used once was used by another request in the meantime. */
export class UsedBeforeError extends Error {}

/** Carries the write out at once, or with the others of the request. */
export async function write(rows: ProviderRows, change: Write): Promise<void> {
  const writes = collected.getStore()
  if (writes === undefined) await rows.write(change)
  else writes.push(change)
}

/**
 * Returns the answer once all that its request wrote is committed, together with what `last` adds for it. Rejects with
 * `UsedBeforeError` if another request was first; nothing is written then.
 */
export async function writtenTogether(
  rows: ProviderRows,
  run: () => Promise<AuthAnswer>,
  last?: (answer: AuthAnswer) => Write,
): Promise<AuthAnswer> {
  const writes: Write[] = []
  const answer = await collected.run(writes, run)
  if (answer.status >= 400) return answer
  if (last !== undefined) writes.push(last(answer))
  await rows.write(async (sql) => {
    for (const change of writes) await change(sql)
  })
  return answer
}
