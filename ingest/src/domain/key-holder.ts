import type { Environment } from '@tollgate/schemas/environment'
import type { KeyFault } from '@tollgate/schemas/http/same-words'
import type { PublishedApiKey } from '@tollgate/schemas/hot-state/documents'

/** Whom a secret key belongs to. It alone decides the provider and the environment of a request. */
export type KeyHolder = {
  readonly providerId: string
  readonly environment: Environment
  /** Requests with a name that the operation does not know are refused. */
  readonly isStrict?: boolean | undefined
}

/**
 * 'forbidden': the key may be used for other things, but not to record usage and check limits. 'misplaced': it is a live
 * key, and its provider is not live yet.
 */
export type Found = KeyHolder | KeyFault | 'forbidden' | 'misplaced'

/** Who holds the key of an Authorization header. */
export interface KeyDirectory {
  /** What is known without asking anybody; 'unknown' says that `find` must be asked. */
  peek(authorization: string): Found | 'unknown'
  /** Rejects with UnavailableError when it cannot be found out now. */
  find(authorization: string): Promise<Found>
}

/**
 * Asks where keys are kept for good; undefined: there is no such key. Slow, and another service has the work: for keys
 * of which hot state cannot say anything. Rejects when the answer cannot be had now.
 */
export type AskForKey = (authorization: string) => Promise<PublishedApiKey | undefined>
