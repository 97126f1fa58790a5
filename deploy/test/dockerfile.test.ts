import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { validate } from 'dockerfile-utils'
import { describe, expect, it } from 'vitest'
import { knownVariables } from './service-settings.ts'

/*
 * The image cannot be built without a Docker engine. These tests check that the file is well-formed, that the files it copies exist
 * and are not ignored, and that a service reads the variables it sets.
 */

const root = fileURLToPath(new URL('../..', import.meta.url))
const dockerfile = await readFile(join(root, 'Dockerfile'), 'utf8')
const ignored = await readFile(join(root, '.dockerignore'), 'utf8')
const { workspaces, engines } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
  workspaces: string[]
  engines: { node: string }
}

/** Instructions with joined continuation lines and without comments. */
const instructions = dockerfile
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => line.replaceAll(/\s+/g, ' ').trim())

const copiedFromContext = instructions
  .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
  .flatMap((line) => line.split(' ').slice(1, -1))

describe('the Dockerfile', () => {
  it('passes its linter', () => {
    expect(validate(dockerfile)).toEqual([])
  })

  it.each(copiedFromContext)('copies %s, which exists and is not ignored', (path) => {
    expect(existsSync(join(root, path))).toBe(true)
    const sent = ignored.split('\n').filter((line) => line.startsWith('!'))
    expect(
      sent.some((line) => path === line.slice(1) || path.startsWith(`${line.slice(1)}/`)),
    ).toBe(true)
  })

  it('copies the manifests of all workspaces, which npm ci needs', () => {
    for (const workspace of workspaces) {
      expect(copiedFromContext).toContain(`${workspace}/package.json`)
    }
  })

  it('uses a supported Node.js on a system with the required C library', () => {
    const [, major, system] = /^ARG NODE_IMAGE=node:(\d+)\.\d+\.\d+-(\w+)-slim$/m.exec(dockerfile)!
    expect(engines.node.split(' || ').at(-1)).toBe(`^${major}.0.0`)
    expect(system).toBe('trixie')
  })

  it('runs as a numeric user that is not root, with an init process that forwards signals', () => {
    const runtime = instructions.slice(
      instructions.findIndex((line) => line.endsWith('AS runtime')),
    )
    expect(runtime.filter((line) => line.startsWith('USER '))).toEqual(['USER 10001:10001'])
    expect(runtime).toContain('ENTRYPOINT ["/usr/bin/tini", "--", "node"]')
    expect(runtime.some((line) => line.startsWith('HEALTHCHECK '))).toBe(true)
  })

  it('sets only variables that a service reads', () => {
    const set = [...dockerfile.matchAll(/\b(TOLLGATE_\w+)=/g)].map(([, variable]) => variable!)
    expect(set.length).toBeGreaterThan(5)
    expect(set.filter((variable) => !knownVariables.has(variable))).toEqual([])
  })
})
