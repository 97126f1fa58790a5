import type { Environment } from '@tollgate/schemas/environment'

/** Whom a secret key belongs to. It alone decides the provider and the environment of a request. */
export type KeyHolder = {
  readonly providerId: string
  readonly environment: Environment
}

/** Who holds the key of an Authorization header. */
export interface KeyDirectory {
  /** What is known without asking anybody; 'unknown' says that `find` must be asked. */
  peek(authorization: string): KeyHolder | 'refused' | 'unknown'
  /** Rejects with UnavailableError when it cannot be found out now. */
  find(authorization: string): Promise<KeyHolder | 'refused'>
}
