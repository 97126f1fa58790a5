import { readSettings, SettingsError } from '@tollgate/platform/config/settings'
import { billingRunnerSettings } from '../config.ts'
import { createProgram } from './program.ts'
import { reconcileNow } from './reconcile-command.ts'
import { restoreUsage } from './restore-command.ts'
import { CommandError, runJobs, type RunSurroundings } from './run-jobs.ts'

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort())

const readConfig = () => readSettings(billingRunnerSettings, process.env)
const surroundings: RunSurroundings = {
  print: (line) => process.stdout.write(`${line}\n`),
  stopping: stopping.signal,
}
const program = createProgram({
  run: (asked) => runJobs(readConfig(), asked, surroundings),
  reconcile: (asked) => reconcileNow(readConfig(), asked, surroundings),
  restoreUsage: (asked) => restoreUsage(readConfig(), asked, surroundings),
})

try {
  await program.parseAsync()
} catch (error) {
  process.stderr.write(`${explain(error)}\n`)
  process.exitCode = 1
}

function explain(error: unknown): string {
  if (error instanceof CommandError || error instanceof SettingsError) return error.message
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (code === 'ECONNREFUSED' || code === 'CONNECT_TIMEOUT') {
    return 'PostgreSQL does not answer: is Tollgate running?'
  }
  return String(message ?? error)
}
