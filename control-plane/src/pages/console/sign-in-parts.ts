import type { ConsoleParts } from '@tollgate/domain/console/console-parts'
import type { Upstream } from '../../upstream/upstream.ts'
import type { StaticFiles } from '../static-files.ts'
import type { ConsoleSessionParts } from './console-session.ts'

/** The parts of the pages on which users of the console sign in. */
export type ConsoleSignInParts = ConsoleSessionParts & {
  readonly console: ConsoleParts
  readonly files: StaticFiles
  /** The OpenID Connect issuer of the console. Undefined if users sign in with a password only. */
  readonly openid: Upstream | undefined
}
