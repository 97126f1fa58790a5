import { spawnSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'

/* Tests the published package in a project that contains nothing else of this repository but the frameworks. */

const root = fileURLToPath(new URL('..', import.meta.url))
const project = realpathSync(mkdtempSync(join(tmpdir(), 'paywall-user-')))
const installed = join(project, 'node_modules/@tollgate/paywall')

function run(folder: string, command: string, ...given: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, given, { cwd: folder, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${given.join(' ')}: ${stdout}${stderr}`)
  return stdout
}

beforeAll(() => {
  run(root, 'npm', 'run', 'build')
  const packed = run(root, 'npm', 'pack', '--ignore-scripts', '--pack-destination', project)
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }')
  run(project, 'npm', 'install', '--offline', '--no-audit', '--no-fund', `./${packed.trim()}`)
})

afterAll(() => rmSync(project, { recursive: true, force: true }))

test('contains its code and types, and has no dependencies', () => {
  const files = run(installed, 'find', '.', '-type', 'f').trim().split('\n')
  const others = files.filter((file) => !/^\.\/dist\/[a-z-]+(\.d\.ts|\.js)$/.test(file))
  expect(others.sort()).toEqual(['./LICENSE', './README.md', './package.json'])
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    dependencies?: object
  }
  expect(dependencies).toBeUndefined()
})

test('loads without any framework installed', () => {
  const program = `
    import { createPaywall } from '@tollgate/paywall'
    const options = { secretKey: 'sk_1', productRef: 'prd_1', baseUrl: 'http://127.0.0.1:1' }
    const paywall = createPaywall({ ...options, onError: ({ name }) => console.log(name) })
    for (const adapter of ['express', 'fastify', 'hono', 'mcp']) {
      const exported = await import('@tollgate/paywall/' + adapter)
      console.log(typeof exported[adapter + 'Paywall'])
    }
    console.log((await paywall.begin({ customerRef: 'cus_1' })).kind)
    await paywall.close()`
  const printed = run(project, process.execPath, '--input-type=module', '-e', program)
  expect(printed.trim().split('\n')).toEqual([
    ...Array<string>(4).fill('function'),
    'AwayError',
    'unavailable',
  ])
})

test('compiles the examples of the README strictly with the types of each framework', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const snippets = readme.match(/```ts\n[^]*?```/g)!.map((each) => each.slice(6, -3))
  expect(snippets).toHaveLength(7)
  const files = snippets.map((snippet, at) => {
    const file = snippet.startsWith('// paywall.ts') ? 'paywall.ts' : `example-${at}.ts`
    writeFileSync(join(project, file), snippet)
    return file
  })
  for (const name of [
    '@hono/node-server',
    '@modelcontextprotocol/sdk',
    '@modelcontextprotocol/server',
    '@types/express',
    '@types/node',
    'express',
    'fastify',
    'hono',
  ]) {
    linkFromHere(name)
  }
  const compilerOptions = {
    target: 'es2022',
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    // The types of the frameworks are not checked.
    skipLibCheck: true,
    types: ['node'],
  }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')
  expect(run(project, process.execPath, compiler)).toBe('')
  // The types of the package itself are checked.
  const own = ['create-paywall', 'express', 'fastify', 'hono', 'mcp'].map((name) =>
    join(installed, 'dist', `${name}.d.ts`),
  )
  const strictly = { ...compilerOptions, skipLibCheck: false }
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: strictly, files: own }),
  )
  expect(run(project, process.execPath, compiler)).toBe('')
})

/** Links a package that is installed in this repository, so that the test needs no network. */
function linkFromHere(name: string): void {
  const folder = fileURLToPath(new URL(`../../node_modules/${name}`, import.meta.url))
  const link = join(project, 'node_modules', name)
  mkdirSync(dirname(link), { recursive: true })
  symlinkSync(folder, link)
}
