import { createHash } from 'node:crypto'
import { StripeApiError } from '../errors.ts'
import type { Mode } from '../store/records.ts'
import type { KeyValueStore } from '../store/key-value-store.ts'
import type { Answer } from '../answer.ts'

/** Stripe keeps idempotency keys for at least 24 hours. The simulator keeps them for exactly that time. */
const retentionMs = 24 * 3_600_000

type StoredAnswer = Answer & { readonly fingerprint: string; readonly atMs: number }

export function keyOf(mode: Mode, key: string): string {
  return `key/${mode}/${createHash('sha256').update(key).digest('hex')}`
}

/** Returns a digest of everything that must be equal when a key is used again. */
export function fingerprintOf(method: string, path: string, body: string): string {
  return createHash('sha256')
    .update(JSON.stringify([method, path, body]))
    .digest('hex')
}

/** Returns the earlier answer to the same request. Throws if the key was used for a different request. */
export function findStoredAnswer(
  store: KeyValueStore,
  storedKey: string,
  fingerprint: string,
  nowMs: number,
): Answer | undefined {
  const text = store.get(storedKey)
  if (text === undefined) return undefined
  const remembered = JSON.parse(text) as StoredAnswer
  if (nowMs - remembered.atMs >= retentionMs) return undefined
  if (remembered.fingerprint === fingerprint) return remembered
  throw new StripeApiError(
    400,
    {
      type: 'idempotency_error',
      message:
        'Keys for idempotent requests can only be used with the same parameters they were first used with.',
    },
    false,
  )
}

export function encodeStoredAnswer(answer: Answer, fingerprint: string, atMs: number): string {
  return JSON.stringify({ ...answer, fingerprint, atMs } satisfies StoredAnswer)
}

export function keyInUse(): StripeApiError {
  return new StripeApiError(
    409,
    {
      type: 'idempotency_error',
      code: 'idempotency_key_in_use',
      message: 'There is currently another in-progress request using this idempotent key.',
    },
    false,
  )
}

/** Deletes expired keys. */
export function pruneKeys(store: KeyValueStore, nowMs: number): void {
  const expired = new Map<string, undefined>()
  for (const [key, text] of store.range('key/', 'ascending')) {
    if (nowMs - (JSON.parse(text) as StoredAnswer).atMs >= retentionMs) expired.set(key, undefined)
  }
  if (expired.size > 0) store.commit(expired)
}
