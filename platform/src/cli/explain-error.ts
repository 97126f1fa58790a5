import { SettingsError } from '../config/settings.ts'
import { CliError } from './cli-error.ts'

/** Returns the text for a failure that the person at the terminal can fix, or undefined for a bug. */
export function explainError(error: unknown): string | undefined {
  if (error instanceof CliError || error instanceof SettingsError) return error.message
  const { code } = error as { code?: unknown }
  if (code === 'ECONNREFUSED' || code === 'CONNECT_TIMEOUT') {
    return 'PostgreSQL does not answer. Start Tollgate with npm start, or check TOLLGATE_DATABASE_URL.'
  }
  return undefined
}
