import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createInterface, type Interface } from 'node:readline/promises'
import type { Readable, Writable } from 'node:stream'
import { StatementRefusedError } from '@tollgate/platform/usage-store/clickhouse/statement-runner'
import { takeStatements } from './take-statements.ts'

export type PromptOptions = {
  readonly input: Readable
  readonly output: Writable
  /** File in which the history is saved between prompts. If undefined, it is not saved. */
  readonly historyFile: string | undefined
  readonly run: (statement: string, signal: AbortSignal) => Promise<void>
}

const prompt = 'tollgate :) '
const continued = '         -> '
const historyMax = 500

const help = `End a statement with a semicolon. \\q or Ctrl-D exits, Ctrl-C cancels the statement.\n`

/** Reads statements from the terminal until \q or the end of the input. */
export async function openPrompt(options: PromptOptions): Promise<void> {
  const { input, output, historyFile } = options
  const lines = createInterface({
    input,
    output,
    terminal: true,
    historySize: historyMax,
    removeHistoryDuplicates: true,
    history: historyFile === undefined ? [] : await readHistory(historyFile),
  })
  let history: string[] = []
  lines.on('history', (all: string[]) => (history = [...all]))
  output.write(help)
  await readStatements(lines, options)
  lines.close()
  if (historyFile !== undefined && history.length > 0) await writeHistory(historyFile, history)
}

async function readStatements(lines: Interface, { output, run }: PromptOptions): Promise<void> {
  let typed = ''
  let running: AbortController | undefined
  const ask = (): void => {
    lines.setPrompt(typed.trim() === '' ? prompt : continued)
    lines.prompt()
  }
  lines.on('SIGINT', () => {
    if (running !== undefined) return running.abort()
    typed = ''
    output.write('\n')
    ask()
  })
  ask()
  for await (const line of lines) {
    if (/^\s*(\\q|exit|quit)\s*;?\s*$/i.test(line) && typed.trim() === '') return
    const { statements, rest } = takeStatements(`${typed}${line}\n`)
    typed = rest.trim() === '' ? '' : rest
    for (const statement of statements) {
      running = new AbortController()
      await run(statement, running.signal).catch((error: unknown) =>
        output.write(`${messageOf(error, running?.signal.aborted === true)}\n`),
      )
      running = undefined
    }
    ask()
  }
}

function messageOf(error: unknown, isAborted: boolean): string {
  if (isAborted) return 'Cancelled.'
  if (error instanceof StatementRefusedError) return error.message
  return `ClickHouse does not answer: ${(error as Error).message}`
}

async function readHistory(path: string): Promise<string[]> {
  return await readFile(path, 'utf8').then(
    (text) => text.split('\n').filter((line) => line !== ''),
    () => [],
  )
}

async function writeHistory(path: string, lines: readonly string[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFile(path, `${lines.slice(0, historyMax).join('\n')}\n`, { mode: 0o600 })
}
