import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

/**
 * Returns what an earlier request with the same idempotency key made, `key-reused` if that request asked for something else, and
 * undefined if there was none. The caller holds the lock that orders such requests, so a repetition that waited for the first
 * request finds what it made.
 */
export async function findRepeated<Made extends { readonly inputSha256: string }>(
  { idempotencyKey }: Pick<UnitOfWork, 'idempotencyKey'>,
  inputSha256: string,
  findOfKey: (idempotencyKey: string) => Promise<Made | undefined>,
): Promise<Made | 'key-reused' | undefined> {
  if (idempotencyKey === null) return undefined
  const before = await findOfKey(idempotencyKey)
  return before === undefined || before.inputSha256 === inputSha256 ? before : 'key-reused'
}
