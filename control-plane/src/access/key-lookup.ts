import { findApiKeysBySha256, type PlacedApiKey } from '@tollgate/domain/api-keys/repository'
import type { Database } from '@tollgate/platform/database/database'

/** Returns the key with this SHA-256, even if it is expired, revoked or misplaced. */
export type FindKey = (sha256: string) => Promise<PlacedApiKey | undefined>

type Turn = {
  readonly sha256s: Set<string>
  readonly keys: Promise<ReadonlyMap<string, PlacedApiKey>>
}

/**
 * Finds keys in PostgreSQL. Requests that arrive in one turn of the event loop share a statement. It is sent after the last of them
 * arrived, so each request sees a revocation that was committed before it arrived.
 */
export function createKeyLookup({ control }: Pick<Database, 'control'>): FindKey {
  let turn: Turn | undefined

  function beginTurn(): Turn {
    const sha256s = new Set<string>()
    const ended = new Promise<void>((resolve) => setImmediate(resolve))
    const keys = ended.then(() => {
      turn = undefined
      return findApiKeysBySha256(control, [...sha256s])
    })
    return { sha256s, keys }
  }

  return async (sha256) => {
    turn ??= beginTurn()
    turn.sha256s.add(sha256)
    return (await turn.keys).get(sha256)
  }
}
