import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { servicePrograms } from '../src/standalone/service-programs.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const tollgate = `${root}deploy/dist/bundled/tollgate/main.js`
const programs = { ...servicePrograms, tollgate }

it.each(Object.entries(programs))('%s starts with stored code that V8 accepts', (_, program) => {
  const script = `
    import { existsSync } from 'node:fs'
    import { pathToFileURL } from 'node:url'
    import { compiledFile, loadBundle } from '${root}deploy/run-bundle.mjs'
    const [program] = process.argv.slice(1)
    const { script } = loadBundle(pathToFileURL(program).href)
    console.log(existsSync(compiledFile(program)), script.cachedDataRejected)
    process.exit(0)`
  const node = ['--input-type=module', '-e', script, program]
  expect(execFileSync(process.execPath, node, { encoding: 'utf8' })).toMatch(/true false\n$/)
})

it('a program starts if V8 refuses its stored code', () => {
  // V8 accepts only code that was compiled with the same options.
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--stack-size=900', tollgate, '--version'],
    { encoding: 'utf8' },
  )
  expect([status, stdout, stderr]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/), ''])
})

it('names sources and their lines in stack traces', () => {
  const { status, stderr } = spawnSync(process.execPath, [servicePrograms.controlPlane], {
    encoding: 'utf8',
    env: {},
  })
  expect(status).toBe(1)
  const [, path, line] = /at readControlPlaneConfig \((.+):(\d+)\)/.exec(stderr) ?? []
  expect(path, stderr).toBe(`${root}control-plane/src/config.ts`)
  expect(readFileSync(path!, 'utf8').split('\n')[Number(line) - 1]).toContain('readSettings(')
  expect(stderr).toMatch(/^SettingsError: TOLLGATE_DATABASE_URL is not set/m)
})
