import { createHash } from 'node:crypto'
import type { AuditEntry, AuditSeal } from './entry.ts'

/** Hash that precedes the first seal of every provider. */
export const auditChainStart = createHash('sha256').update('tollgate audit log').digest('hex')

/**
 * Returns the hash of the last entry in a chain in which each hash covers the previous one. The entries must be in the
 * order of their ids.
 */
export function extendChain(previousSha256: string, entries: readonly AuditEntry[]): string {
  return entries.reduce(
    (previous, entry) =>
      createHash('sha256')
        .update(`${previous}\n${canonical(entry)}`)
        .digest('hex'),
    previousSha256,
  )
}

export type ChainBreak =
  /** A seal is missing or was replaced. */
  | 'seal-out-of-order'
  /** An entry is missing or was inserted. */
  | 'entries-missing-or-added'
  /** An entry or a seal was altered. */
  | 'altered'

/**
 * Returns why a seal does not match its predecessor or its entries, or undefined if it matches. `entries` are the
 * entries that are in the seal's range now.
 */
export function findChainBreak(
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
  return extendChain(seal.previousSha256, entries) === seal.sha256 ? undefined : 'altered'
}

/**
 * Returns a text that never changes for the same entry. A field that is added to entries later must not change the text
 * of older entries.
 */
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
