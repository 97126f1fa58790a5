import { execFileSync, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const start = fileURLToPath(new URL('../start.mjs', import.meta.url))

it('npm start passes options to the installation, and runs commands by name', () => {
  expect(execFileSync('node', [start, '--help'], { encoding: 'utf8' })).toContain('--engines')
  expect(execFileSync('node', [start, 'chaos', '--help'], { encoding: 'utf8' })).toContain('chaos')
  const unknown = spawnSync('node', [start, 'dance'], { encoding: 'utf8' })
  expect([unknown.status, unknown.stderr]).toEqual([1, expect.stringContaining('dance')])
})

describe('on another Node', () => {
  it.each(['18.20.8', '20.18.3', '21.7.3', '22.12.0', '23.11.1', '25.2.1'])(
    'stops with one line that names the supported ones (%s)',
    (version) => {
      const pretend = `Object.defineProperty(process, 'versions', { value: { node: '${version}' } })`
      const script = ['--import', `data:text/javascript,${pretend}`, start, '--help']
      const { status, stdout, stderr } = spawnSync('node', script, { encoding: 'utf8' })
      expect([status, stdout]).toEqual([1, ''])
      expect(stderr).toBe(
        `Tollgate runs on Node.js 20 (20.19 or later), 22 (22.13 or later) and 24; this is ${version}. ` +
          'Install Node.js 24 and try again.\n',
      )
    },
  )
})
