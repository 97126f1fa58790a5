import type { Database } from '@tollgate/platform/database/database'
import type { AttemptLimits } from './attempts.ts'
import type { Passwords } from './passwords.ts'

/** What signing in works with. Who calls is not known yet, so it sees the users of all providers. */
export type ConsoleParts = {
  readonly database: Database
  readonly passwords: Passwords
  readonly limits: {
    readonly signedInMs: number
    readonly passwordLinkMs: number
    /** How long a browser is known after a sign-in. */
    readonly knownBrowserMs: number
    readonly attempts: AttemptLimits
  }
}
