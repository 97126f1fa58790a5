import type { Queryable } from '@tollgate/platform/database/database'
import { findChainBreak, type ChainBreak } from './chain.ts'
import type { AuditSeal } from './entry.ts'
import { listEntriesBetween, listSeals } from './repository.ts'
import { entriesPerSealMax } from './seal-entries.ts'

const sealsPerPage = 500

export type VerifiedLog = {
  readonly entries: bigint
  /** The last valid seal. Undefined if nothing is sealed, or if the first seal is broken. */
  readonly head: AuditSeal | undefined
  /** The first invalid seal, and why it is invalid. */
  readonly broken: { readonly seal: AuditSeal; readonly reason: ChainBreak } | undefined
  /** Whether `expectedSha256` is the hash of one of the seals. A hash that was noted elsewhere must be. */
  readonly hasExpected: boolean
}

/**
 * Compares a provider's log with its seals, one after the other. If the end of the log was removed together with its
 * seals, only a hash that was noted elsewhere (`expectedSha256`) reveals it.
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
      // Reads one entry more than a seal can contain, to detect inserted entries.
      const found = await listEntriesBetween(
        sql,
        providerId,
        afterId,
        upToId,
        entriesPerSealMax + 1,
      )
      const reason = findChainBreak(previous, seal, found)
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
