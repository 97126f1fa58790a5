import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { CliError } from '@tollgate/platform/cli/cli-error'
import type { Output } from '@tollgate/platform/cli/output'
import {
  createStatementRunner,
  StatementRefusedError,
  type StatementRunner,
} from '@tollgate/platform/usage-store/clickhouse/statement-runner'
import { openPrompt } from './prompt.ts'
import { describeLogin, readerLogin } from './reader-login.ts'
import { takeStatements } from './take-statements.ts'

export type ClickHouseOptions = {
  readonly query?: string
  readonly format?: string
}

/**
 * Runs the given query or the statements of standard input. Without them, it prints how to connect, and opens a prompt if standard
 * input is a terminal.
 */
export async function runClickHouse(
  environment: Readonly<Record<string, string | undefined>>,
  { query, format }: ClickHouseOptions,
  output: Output,
): Promise<void> {
  const login = readerLogin(environment)
  const isPerson = process.stdin.isTTY === true
  // Standard input is only read in text mode, because a script that requests the address as JSON may leave its standard input open.
  const reads = !isPerson && output.mode() === 'text'
  const runner = createStatementRunner(login)
  try {
    const given = query ?? (reads ? await readAll(process.stdin) : '')
    if (given.trim() !== '') {
      const isJson = output.mode() === 'json'
      return await runAll(runner, given, format ?? (isJson ? 'JSON' : 'TabSeparated'))
    }
    output.show(describeLogin(login))
    if (!isPerson || output.mode() !== 'text') return
    await openPrompt({
      input: process.stdin,
      output: process.stdout,
      historyFile: historyFileIn(environment['TOLLGATE_DATA_DIR'] ?? '.tollgate'),
      run: async (statement, signal) => {
        const shown = format ?? 'PrettyCompactMonoBlock'
        if ((await runner.run(statement, shown, write, signal)) === 0) console.log('No rows.')
      },
    })
  } finally {
    await runner.close()
  }
}

/** Returns undefined if there is no data folder, because a command must not create one. */
function historyFileIn(dataDir: string): string | undefined {
  return existsSync(dataDir) ? join(dataDir, 'data-team', 'history') : undefined
}

async function runAll(runner: StatementRunner, text: string, format: string): Promise<void> {
  const { statements, rest } = takeStatements(text)
  for (const statement of rest.trim() === '' ? statements : [...statements, rest]) {
    await runner.run(statement, format, write).catch((error: unknown) => {
      const isRefused = error instanceof StatementRefusedError
      throw new CliError(
        isRefused ? error.message : `ClickHouse does not answer: ${(error as Error).message}`,
      )
    })
  }
}

/** Writes to standard output. Ends the process if the reader has closed it, because the rest of the result has no reader. */
function write(chunk: Buffer): void {
  process.stdout.write(chunk, (error) => {
    if ((error as NodeJS.ErrnoException | null | undefined)?.code === 'EPIPE') process.exit(0)
  })
}
