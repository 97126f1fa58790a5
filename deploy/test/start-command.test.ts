import { execFileSync, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const start = fileURLToPath(new URL('../start.mjs', import.meta.url))

it('npm start passes options on to the installation, and knows commands by their names', () => {
  expect(execFileSync('node', [start, '--help'], { encoding: 'utf8' })).toContain('--engines')
  expect(execFileSync('node', [start, 'chaos', '--help'], { encoding: 'utf8' })).toContain('chaos')
  const unknown = spawnSync('node', [start, 'dance'], { encoding: 'utf8' })
  expect([unknown.status, unknown.stderr]).toEqual([1, expect.stringContaining('dance')])
})
