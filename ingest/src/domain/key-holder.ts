import type { Environment } from '@tollgate/schemas/environment'
import type { KeyFault } from '@tollgate/schemas/http/same-words'
import type { PublishedApiKey, PublishedMeters } from '@tollgate/schemas/hot-state/documents'

/** The provider and environment of a secret key. Only the key decides these two for a request. */
export type KeyHolder = {
  /** `service` for a key of another service of the installation. */
  readonly keyId?: string | undefined
  readonly providerId: string
  readonly environment: Environment
  /** Requests with a field or parameter that the operation does not know are refused. */
  readonly isStrict?: boolean | undefined
}

/**
 * 'forbidden': the key lacks the scope to record usage and check limits. 'misplaced': the key is a live key, and its provider is
 * not live yet.
 */
export type Found = KeyHolder | KeyFault | 'forbidden' | 'misplaced'

/** Finds the holder of the key in an Authorization header. */
export interface KeyDirectory {
  /** Returns what is cached, without I/O. 'unknown' means that `find` must be called. */
  peek(authorization: string): Found | 'unknown'
  /** Rejects with UnavailableError if the holder cannot be determined now. */
  find(authorization: string): Promise<Found>
}

/**
 * Reads a key from the control plane, which stores keys permanently. Resolves with undefined if there is no such key. Use it only
 * for keys that the hot state cannot answer for, because it is slow and loads another service. Rejects if the control plane cannot
 * answer.
 */
export type FetchKey = (authorization: string) => Promise<PublishedApiKey | undefined>

/** Reads the meters of the key's provider from the control plane. Rejects if the control plane cannot answer. */
export type FetchMeters = (authorization: string) => Promise<PublishedMeters>
