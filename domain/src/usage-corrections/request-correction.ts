import { sha256OfInput } from '../money-ledger/ledger.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { NewCorrection } from './correction.ts'
import { findCorrectionByKey, insertCorrection, lockCorrections } from './repository.ts'

export type RequestOutcome =
  { readonly kind: 'requested'; readonly reference: string } | { readonly kind: 'key-reused' }

/** Stores a correction, which is applied later. A repeated request with the same key returns the reference of the first correction. */
export async function requestCorrection(
  { sql, providerId, now }: UnitOfWork,
  wanted: NewCorrection,
): Promise<RequestOutcome> {
  const { idempotencyKey, selection, action, valueMicros, reason, author } = wanted
  const inputSha256 = sha256OfInput([
    JSON.stringify(selection),
    action,
    valueMicros?.toString() ?? null,
    reason,
    author,
  ])
  await lockCorrections(sql, providerId)
  if (idempotencyKey !== null) {
    const before = await findCorrectionByKey(sql, providerId, idempotencyKey)
    if (before !== undefined) {
      return before.inputSha256 === inputSha256
        ? { kind: 'requested', reference: before.reference }
        : { kind: 'key-reused' }
    }
  }
  const reference = generateReference('usageCorrection')
  await insertCorrection(sql, providerId, { ...wanted, reference, createdAt: now }, inputSha256)
  return { kind: 'requested', reference }
}
