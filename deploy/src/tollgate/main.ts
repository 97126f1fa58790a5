import { explainError } from '@tollgate/platform/cli/explain-error'
import { runCommandLine } from '@tollgate/platform/cli/command-line'
import { createTollgateProgram } from './program.ts'

/** The operator's commands, against what runs on the data folder, or against what the environment names. */
await runCommandLine(createTollgateProgram(process.env).program, explain)

function explain(error: unknown): string | undefined {
  const { name, message } = error as Error
  // Known by name, so that a command that needs none of it loads none of it.
  const isPlain = name === 'StartRefusedError' || name === 'DataFolderError'
  return isPlain ? message : explainError(error)
}
