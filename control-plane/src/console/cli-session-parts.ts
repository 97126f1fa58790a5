import type { CliSessionParts } from '@tollgate/domain/console/answer-cli-session'
import type { ConsoleParts } from '@tollgate/domain/console/console-parts'

export type CliParts = Omit<CliSessionParts, 'database'> & { readonly console: ConsoleParts }

/** Returns what sessions of the command line work with: they are of no provider before a user answers them. */
export function cliParts({ console, hotState, secrets }: CliParts): CliSessionParts {
  return { database: console.database, hotState, secrets }
}
