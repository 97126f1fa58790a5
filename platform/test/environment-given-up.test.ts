import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

test('ends the process with its reason after a fatal error of lmdb', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-given-up-'))
  const program = fileURLToPath(new URL('environment-given-up.ts', import.meta.url))
  const child = spawn(process.execPath, ['--conditions=source', '--import', 'tsx', program, folder])
  const [exit, said, output] = await Promise.all([
    once(child, 'exit') as Promise<unknown[]>,
    text(child.stderr),
    text(child.stdout),
  ])
  await rm(folder, { recursive: true })
  expect({ exit, output }).toEqual({ exit: [1, null], output: '' })
  expect(said).toContain('MDB_PANIC')
})
