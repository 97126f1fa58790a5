import { auditPlaces, type AuditPlace } from '@tollgate/domain/audit/entry'
import { sealEntries } from '@tollgate/domain/audit/seal-entries'
import { sealLedger } from '@tollgate/domain/money-ledger/seal-ledger'
import { poolOf } from '@tollgate/domain/publishing/publisher'
import type { Service } from '@tollgate/platform/service/service'
import type { Environment } from '@tollgate/schemas/environment'
import { repeating, repeatingInEach, type JobParts } from './repeating.ts'

/**
 * Seals the audit log shortly after entries are written. Sealing inside the transaction would make a provider's changes wait for
 * each other.
 */
export function createAuditSealing(parts: JobParts, intervalMs: number): Service {
  const sealedTo = new Map<AuditPlace, bigint>()
  return repeating(async () => {
    for (const place of auditPlaces) {
      try {
        const pool = poolOf(parts.publisher, place)
        const { sealedToId } = await sealEntries(
          pool,
          sealedTo.get(place) ?? 0n,
          parts.publisher.now(),
        )
        sealedTo.set(place, sealedToId)
      } catch (error) {
        parts.logger.error(
          { err: error, place },
          'could not seal the audit log; the next round retries',
        )
      }
    }
  }, intervalMs)
}

/** Seals the ledger in the same way and for the same reason. */
export function createLedgerSealing(parts: JobParts, intervalMs: number): Service {
  const sealedTo = new Map<Environment, bigint>()
  const seal = async (environment: Environment): Promise<void> => {
    const { database, now } = parts.publisher
    const before = sealedTo.get(environment) ?? 0n
    sealedTo.set(environment, await sealLedger(database.in(environment), before, now()))
  }
  return repeatingInEach(
    parts.logger,
    'could not seal the ledger; the next round retries',
    seal,
    intervalMs,
  )
}
