import { createHash } from 'node:crypto'
import type { AuditEntry, AuditSeal } from './entry.ts'

/** What the first seal of every provider follows. */
export const auditChainStart = createHash('sha256').update('tollgate audit log').digest('hex')

/** The hash of the last entry in a chain where each one's covers the one before. In the order of their ids. */
export function chainOn(previousSha256: string, entries: readonly AuditEntry[]): string {
  return entries.reduce(
    (previous, entry) =>
      createHash('sha256')
        .update(`${previous}\n${canonical(entry)}`)
        .digest('hex'),
    previousSha256,
  )
}

export type ChainBreak =
  /** A seal is missing, or is not the one that was made here. */
  | 'seal-out-of-order'
  /** An entry is missing, or was inserted. */
  | 'entries-missing-or-added'
  /** An entry or a seal was altered. */
  | 'altered'

/** What is wrong with a seal, given the one before and the entries that lie in its range now. */
export function judgeSeal(
  previous: AuditSeal | undefined,
  seal: AuditSeal,
  entries: readonly AuditEntry[],
): ChainBreak | undefined {
  const follows =
    seal.number === (previous?.number ?? 0n) + 1n &&
    seal.afterId === (previous?.upToId ?? 0n) &&
    seal.previousSha256 === (previous?.sha256 ?? auditChainStart)
  if (!follows) return 'seal-out-of-order'
  if (BigInt(entries.length) !== seal.entries) return 'entries-missing-or-added'
  return chainOn(seal.previousSha256, entries) === seal.sha256 ? undefined : 'altered'
}

/** Text that is the same for the same entry for ever: fields that come later must not change that of older entries. */
function canonical(entry: AuditEntry): string {
  return JSON.stringify([
    String(entry.id),
    entry.providerId,
    entry.environment,
    String(entry.atMicros),
    entry.actor,
    entry.operation,
    entry.requestId,
    entry.ip,
    entry.kind,
    entry.reference,
    entry.action,
    entry.changedColumns,
    entry.beforeSha256,
    entry.afterSha256,
  ])
}
