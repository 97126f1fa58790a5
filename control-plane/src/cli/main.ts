import { readSettings, SettingsError } from '@tollgate/platform/config/settings'
import { CliError } from './cli-error.ts'
import { withCliParts } from './open-cli-parts.ts'
import { createProgram } from './program.ts'
import { cliSettings } from './settings.ts'

const program = createProgram((run) => withCliParts(readSettings(cliSettings, process.env), run))

try {
  await program.parseAsync()
} catch (error) {
  process.stderr.write(`${explain(error)}\n`)
  process.exitCode = 1
}

function explain(error: unknown): string {
  if (error instanceof CliError || error instanceof SettingsError) return error.message
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (code === 'ECONNREFUSED' || code === 'CONNECT_TIMEOUT') {
    return 'PostgreSQL does not answer: is Tollgate running?'
  }
  return String(message ?? error)
}
