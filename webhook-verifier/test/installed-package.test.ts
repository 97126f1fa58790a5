import { fork, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { signWebhook } from '@tollgate/domain/webhooks/sign-webhook'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/* Tests the published package in a project that contains nothing else of this repository. */

const root = fileURLToPath(new URL('..', import.meta.url))
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const project = mkdtempSync(join(tmpdir(), 'receiver-'))
const secret = 'whsec_installed'

function run(folder: string, command: string, ...given: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, given, { cwd: folder, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${given.join(' ')}: ${stdout}${stderr}`)
  return stdout
}

function write(file: string, text: string): string {
  writeFileSync(join(project, file), text)
  return file
}

beforeAll(() => {
  run(root, 'npm', 'run', 'build')
  const packed = run(root, 'npm', 'pack', '--ignore-scripts', '--pack-destination', project)
  write('package.json', '{ "private": true }')
  run(project, 'npm', 'install', '--offline', '--no-audit', '--no-fund', `./${packed.trim()}`)
})

afterAll(() => rmSync(project, { recursive: true, force: true }))

test('contains its code, types and test vectors, and has no dependencies', () => {
  const folder = join(project, 'node_modules/@tollgate/webhook-verifier')
  expect(run(folder, 'find', '.', '-type', 'f').trim().split('\n').sort()).toEqual([
    './LICENSE',
    './README.md',
    './dist/package.json',
    './dist/verify-webhook.d.ts',
    './dist/verify-webhook.js',
    './package.json',
    './vectors.json',
  ])
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    dependencies?: object
  }
  expect(dependencies).toBeUndefined()
})

test.each([
  ['import', 'with-import.mjs', `import * as verifier from '@tollgate/webhook-verifier'`],
  ['require', 'with-require.cjs', `const verifier = require('@tollgate/webhook-verifier')`],
])('loads with %s', (_, file, loading) => {
  write(
    file,
    `${loading}
try {
  verifier.verifyWebhook({ body: '{}', signature: null, secrets: 'whsec_1' })
} catch (error) {
  console.log(error instanceof verifier.WebhookVerificationError, error.fault)
}
`,
  )
  expect(run(project, process.execPath, file)).toBe('true missing\n')
})

test('import and require share one WebhookVerificationError', () => {
  const file = write(
    'both.mjs',
    `import { createRequire } from 'node:module'
import * as imported from '@tollgate/webhook-verifier'
const required = createRequire(import.meta.url)('@tollgate/webhook-verifier')
console.log(imported.WebhookVerificationError === required.WebhookVerificationError)
`,
  )
  expect(run(project, process.execPath, file)).toBe('true\n')
})

test('has types for strict programs with every module setting', () => {
  const program = `import { verifyWebhook, type WebhookEvent } from '@tollgate/webhook-verifier'
const secrets: readonly string[] = ['whsec_1']
export const event: WebhookEvent = verifyWebhook({ body: new Uint8Array(), signature: undefined, secrets })
// @ts-expect-error: the body was parsed
verifyWebhook({ body: {}, signature: '', secrets })
`
  write('as-module.mts', program)
  write('as-script.cts', program)
  const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')
  for (const found of [{ module: 'nodenext' }, { module: 'esnext', moduleResolution: 'bundler' }]) {
    const strictly = { strict: true, exactOptionalPropertyTypes: true, noEmit: true, types: [] }
    const compilerOptions = { target: 'es2022', lib: ['es2022'], ...strictly, ...found }
    const files = ['as-module.mts', 'as-script.cts']
    write('tsconfig.json', JSON.stringify({ compilerOptions, files }))
    expect(run(project, process.execPath, compiler)).toBe('')
  }
})

/** Completes a receiver of the README with a `keep` function that reports to this process. */
const keep = `
function keep(delivery, event) {
  process.send({ delivery, type: event.type })
}
`

/** Reports the port of a server to this process. */
const printPort = `
import { Server } from 'node:net'
const { emit } = Server.prototype
Server.prototype.emit = function (name, ...values) {
  if (name === 'listening') process.send(this.address().port)
  return emit.call(this, name, ...values)
}
`

describe.each([
  ['node:http', '/'],
  ['express', '/webhooks'],
  ['fastify', '/webhooks'],
])('the receiver with %s', (framework, path) => {
  let receiver: ChildProcess
  let url: string
  const kept: unknown[] = []

  beforeAll(async () => {
    const snippets = readme.match(/```js\n[^]*?```/g)!.map((each) => each.slice(6, -3))
    const snippet = snippets.find((each) => each.includes(`from '${framework}'`))!
    if (!framework.startsWith('node:')) installFromHere(framework)
    const file = write(`${framework.replace(':', '-')}.mjs`, snippet + keep)
    receiver = fork(file, {
      cwd: project,
      execArgv: ['--import', `./${write('tell-port.mjs', printPort)}`],
      env: { ...process.env, PORT: '0', WEBHOOK_SECRET: secret },
    })
    const [port] = (await once(receiver, 'message')) as [number]
    url = `http://127.0.0.1:${port}${path}`
    receiver.on('message', (message) => {
      if (typeof message === 'object') kept.push(message)
    })
  })

  afterAll(async () => {
    receiver.kill()
    await once(receiver, 'exit')
  })

  async function send(body: string, signature: string | undefined): Promise<number> {
    const answer = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'sv-delivery': 'dlv_1',
        ...(signature === undefined ? {} : { 'sv-signature': signature }),
      },
      body,
    })
    await answer.arrayBuffer()
    return answer.status
  }

  const sign = (body: string): string =>
    signWebhook([secret], Buffer.from(body), Math.floor(Date.now() / 1_000))

  test('accepts a body that was signed, byte for byte, and refuses any other', async () => {
    const body = '{ "type": "payment.succeeded",  "name": "Zoë" }'
    expect(await send(body, sign(body))).toBe(200)
    await expect
      .poll(() => kept, { timeout: 20_000 })
      .toEqual([{ delivery: 'dlv_1', type: 'payment.succeeded' }])
    expect(await send(body.replace('Zoë', 'Zoé'), sign(body))).toBe(401)
    expect(await send(body, undefined)).toBe(401)
    expect(kept).toHaveLength(1)
  })
})

/** Links a package that is installed in this repository, so that the test needs no network. */
function installFromHere(name: string): void {
  const entry = createRequire(import.meta.url).resolve(name)
  const folder = entry.slice(0, entry.lastIndexOf(join('node_modules', name)))
  symlinkSync(join(folder, 'node_modules', name), join(project, 'node_modules', name))
}
