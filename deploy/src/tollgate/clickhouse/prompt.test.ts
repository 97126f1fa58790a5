import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { StatementRefusedError } from '@tollgate/platform/usage-store/clickhouse/statement-runner'
import { expect, test } from 'vitest'
import { openPrompt } from './prompt.ts'

test('runs a statement at its semicolon, shows errors, and stores the history', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-prompt-'))
  const historyFile = join(folder, 'data-team', 'history')
  const [input, output] = [new PassThrough(), new PassThrough()]
  const ran: string[] = []
  const run = async (statement: string): Promise<void> => {
    ran.push(statement)
    if (statement.startsWith('SELEC ')) throw new StatementRefusedError('Code: 62. Syntax error')
  }
  const done = openPrompt({ input, output, historyFile, run })
  input.write(`SELECT 1,\n  ';' -- one;\n;\nSELEC 1; SELECT 2;\n\\q\n`)
  await done
  output.end()
  expect(ran).toEqual([`SELECT 1,\n  ';' -- one;`, 'SELEC 1', 'SELECT 2'])
  const shown = await text(output)
  expect(shown).toContain('Code: 62. Syntax error\n')
  expect(shown).toContain('        -> ')
  expect(await readFile(historyFile, 'utf8')).toContain('SELEC 1; SELECT 2;\n')
  expect((await stat(historyFile)).mode & 0o077).toBe(0)
  await rm(folder, { recursive: true })
})
