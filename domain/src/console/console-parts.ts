import type { Database } from '@tollgate/platform/database/database'
import type { AttemptLimits } from './attempts.ts'
import type { Passwords } from './passwords.ts'

/**
 * Parts that sign-ins need. The provider is not known before the sign-in, so `database` sees the users of all
 * providers.
 */
export type ConsoleParts = {
  readonly database: Database
  readonly passwords: Passwords
  readonly limits: {
    readonly signedInMs: number
    readonly passwordLinkMs: number
    /** How long a browser is known after a sign-in, in milliseconds. */
    readonly knownBrowserMs: number
    readonly attempts: AttemptLimits
  }
}
