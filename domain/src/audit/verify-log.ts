import type { Queryable } from '@tollgate/platform/database/database'
import { judgeSeal, type ChainBreak } from './chain.ts'
import type { AuditSeal } from './entry.ts'
import { listEntriesBetween, listSeals } from './repository.ts'
import { entriesPerSealMax } from './seal-entries.ts'

const sealsPerPage = 500

export type VerifiedLog = {
  readonly entries: bigint
  /** The last seal that is whole; undefined when nothing is sealed, or the first one is broken. */
  readonly head: AuditSeal | undefined
  /** The first seal that is not as it was made, and why. */
  readonly broken: { readonly seal: AuditSeal; readonly reason: ChainBreak } | undefined
  /** Whether `expectedSha256` was among the seals: one that was noted elsewhere must be. */
  readonly hasExpected: boolean
}

/**
 * Compares the log of a provider with its seals, one after the other. What was cut off at the end together with its
 * seals is missed only by whoever noted the hash of a seal elsewhere.
 */
export async function verifyAuditLog(
  sql: Queryable,
  providerId: string,
  expectedSha256?: string,
): Promise<VerifiedLog> {
  let previous: AuditSeal | undefined
  let entries = 0n
  let hasExpected = false
  for (;;) {
    const seals = await listSeals(sql, providerId, previous?.number ?? 0n, sealsPerPage)
    for (const seal of seals) {
      const { afterId, upToId } = seal
      // One more than was sealed at most tells that there are too many.
      const found = await listEntriesBetween(
        sql,
        providerId,
        afterId,
        upToId,
        entriesPerSealMax + 1,
      )
      const reason = judgeSeal(previous, seal, found)
      if (reason !== undefined) {
        return { entries, head: previous, broken: { seal, reason }, hasExpected }
      }
      entries += seal.entries
      hasExpected ||= seal.sha256 === expectedSha256
      previous = seal
    }
    if (seals.length < sealsPerPage)
      return { entries, head: previous, broken: undefined, hasExpected }
  }
}
