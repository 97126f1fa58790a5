import type { Environment } from './environment.ts'
import { usageReferenceOfScope } from './usage-reference.ts'

/*
 * A correction of usage changes no stored record. It appends signed records: copies of the original records with the difference as
 * their value. Counters, wallets and bills add them up with the originals.
 */

/** The `source` of records that corrections append. Clients cannot record usage with it. */
export const correctionSource = 'usage-corrections'

/** References contain no such character. */
const separator = ':'

/** Returns the idempotency key of the record with which a correction changes an original record. */
export function correctionKey(correctionRef: string, originalId: string): string {
  return `${correctionRef}${separator}${originalId}`
}

/**
 * SQL expression for the id of the record that a row of `usage_records` belongs to: its own, or that of the record that it corrects.
 */
export const correctedIdExpression = `if(source = '${correctionSource}', splitByChar('${separator}', idempotency_key)[2], id)`

/**
 * Returns the id of the record with which a correction changes an original record. A correction that is repeated after a crash has
 * the same ids, so its records count once. Two originals can have one id, if an idempotency key was used again after it was forgotten, so
 * their time in Unix milliseconds is part of the scope. No record of a client has such an id: the scope of those begins with an environment.
 */
export function correctionRecordId(
  environment: Environment,
  providerId: string,
  correctionRef: string,
  original: { readonly id: string; readonly timestamp: number },
): string {
  const { id, timestamp } = original
  const parts = [correctionSource, environment, providerId, correctionRef, id, String(timestamp)]
  return usageReferenceOfScope(parts.map((part) => `${part.length}:${part}`).join(''))
}
