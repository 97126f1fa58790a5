import type { CliSessionParts } from '@tollgate/domain/console/answer-cli-session'
import type { ConsoleParts } from '@tollgate/domain/console/console-parts'

export type CliSessionRouteParts = Omit<CliSessionParts, 'database'> & {
  readonly console: ConsoleParts
}

/**
 * Returns the parts that sessions of the command line use. Such a session belongs to no provider until a user approves or denies
 * it.
 */
export function cliSessionPartsOf({
  console,
  hotState,
  secrets,
}: CliSessionRouteParts): CliSessionParts {
  return { database: console.database, hotState, secrets }
}
