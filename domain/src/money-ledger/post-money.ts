import type { JsonObject } from '@tollgate/schemas/json-object'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { findPostedTransaction, insertTransactionOnce, sha256OfInput } from './ledger.ts'
import type { Posting } from './postings.ts'

/** A key was posted with other entries. Two events share one key, so neither posting can be trusted. */
export class PostingConflictError extends Error {
  override readonly name = 'PostingConflictError'
}

/**
 * Posts in the caller's transaction. Returns `repeated` and changes nothing if it was posted before, and `nothing` if there are
 * neither entries nor a rest. A payout of less than a minor unit has only a rest. If two callers post the same key at once, the second waits for the first one's transaction.
 */
export async function postMoney(
  { sql, providerId, now }: Pick<UnitOfWork, 'sql' | 'providerId' | 'now'>,
  posting: Posting,
): Promise<'posted' | 'repeated' | 'nothing'> {
  if (posting.entries.length === 0 && posting.rest === undefined) return 'nothing'
  const inputSha256 = sha256OfInput([posting.customerRef, entriesText(posting)])
  const isPosted = await insertTransactionOnce(sql, providerId, {
    reference: generateReference('transaction'),
    kind: posting.kind,
    key: posting.key,
    inputSha256,
    customerRef: posting.customerRef,
    ...(posting.invoiceRef === undefined ? {} : { invoiceRef: posting.invoiceRef }),
    reason: null,
    result: resultOf(posting),
    createdAt: now,
    entries: posting.entries,
  })
  if (isPosted) return 'posted'
  const before = await findPostedTransaction(sql, providerId, posting.key)
  if (before?.inputSha256 === inputSha256) return 'repeated'
  throw new PostingConflictError(`${posting.key} was posted with other entries`)
}

/** Returns the result that `readProcessorBalance` reads. */
function resultOf({ rest }: Posting): JsonObject {
  return rest === undefined ? {} : { rest: { [rest.currency]: rest.units.toString() } }
}

function entriesText({ entries }: Posting): string {
  return JSON.stringify(
    entries.map(({ account, currency, amountMinor }) => [account, currency, `${amountMinor}`]),
  )
}
