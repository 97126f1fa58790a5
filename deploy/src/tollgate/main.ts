import { explainError } from '@tollgate/platform/cli/explain-error'
import { runCommandLine } from '@tollgate/platform/cli/command-line'
import { createTollgateProgram } from './program.ts'

/** Runs the operator's commands on the installation of the data folder, or on the stores that the environment names. */
await runCommandLine(createTollgateProgram(process.env).program, printError)

function printError(error: unknown): string | undefined {
  const { name, message } = error as Error
  // Errors are recognized by name, so that a command does not load modules that it does not need.
  const isPlain = name === 'StartRefusedError' || name === 'DataFolderError'
  return isPlain ? message : explainError(error)
}
