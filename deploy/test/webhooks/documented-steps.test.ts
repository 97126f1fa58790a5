import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { startInstance } from '../../../tools/src/instance/instance.ts'
import { makeTemporaryFolder } from '../../src/standalone/temporary-folder.ts'
import { findFreePort } from '../../src/standalone/ports.ts'

/*
 * Runs the commands of docs/webhooks.md and of the guide in /docs in the order of the pages, on an installation of `npm start`. The
 * folder contains nothing of this repository except the verifier.
 */

const repository = fileURLToPath(new URL('../../..', import.meta.url))
const page = readFileSync(join(repository, 'docs/webhooks.md'), 'utf8')
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'gm'))].map(
    ([, text]) => text!,
  )

const commands = blocks('sh')
let receiver: ChildProcess | undefined
/** Output of the receiver. */
let printed = ''
/** Values that the reader has seen so far, which replace the ellipses on the page. */
const seen = { we_: '', dlv_: '', whsec_: [] as string[] }

const folder = await makeTemporaryFolder('documented-steps')
const port = await findFreePort(new Set())
const receiverPort = await findFreePort(new Set([port]))
const dataDir = join(folder.path, 'data')
const instance = await startInstance({ dataDir, port, environment: process.env })
await mkdir(join(folder.path, 'receiver'))
await writeFile(join(folder.path, 'receiver/package.json'), '{ "private": true }')

afterAll(async () => {
  await stopReceiver()
  await instance.stop()
  await folder.remove()
})

let customers = 0

/** Returns the text of the page with URLs, keys and ids of this installation, and with a new customer. */
function filledIn(text: string): string {
  const secrets = [...seen.whsec_]
  return text
    .replaceAll('http://127.0.0.1:8787', instance.credentials.baseUrl)
    .replaceAll('sk_sandbox_…', instance.credentials.sandboxKey)
    .replaceAll('../tollgate/', repository)
    .replaceAll(/\b3000\b/g, String(receiverPort))
    .replaceAll('ada@', () => `ada${(customers += 1)}@`)
    .replaceAll('we_…', seen.we_)
    .replaceAll('dlv_…', seen.dlv_)
    .replaceAll('whsec_…', () => secrets.shift()!)
}

/** Runs the command of the page that contains `part`. Returns the answer of the API if it is JSON. */
function type<Answer>(part: string): Answer {
  const [command, ...others] = commands.filter((each) => each.includes(part))
  expect([command, others], part).toEqual([expect.any(String), []])
  const [definition] = commands
  const { stdout, stderr, status } = spawnSync('bash', ['-c', filledIn(definition! + command)], {
    cwd: join(folder.path, 'receiver'),
    encoding: 'utf8',
  })
  expect(status, stderr).toBe(0)
  return command!.startsWith('api ') ? (JSON.parse(stdout) as Answer) : (stdout as Answer)
}

async function startReceiver(part: string): Promise<void> {
  await stopReceiver()
  const command = commands.find((each) => each.includes(part))!
  receiver = spawn('bash', ['-c', `exec env ${filledIn(command)}`], {
    cwd: join(folder.path, 'receiver'),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const output of [receiver.stdout!, receiver.stderr!]) {
    output.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  }
  const isUp = (): Promise<boolean> =>
    fetch(`http://localhost:${receiverPort}`, { method: 'POST' }).then(
      () => true,
      () => false,
    )
  await expect.poll(isUp, { timeout: 15_000 }).toBe(true)
  printed = ''
}

async function stopReceiver(): Promise<void> {
  if (receiver === undefined) return
  receiver.kill()
  await once(receiver, 'exit')
  receiver = undefined
}

const expectOutput = (text: string) =>
  expect.poll(() => printed, { timeout: 15_000 }).toContain(text)

type Endpoint = { readonly id: string; readonly secret: string; readonly status: string }
type Delivery = { readonly id: string; readonly attempts: readonly object[] }

test('delivers the first webhook', async () => {
  await writeFile(join(folder.path, 'receiver/receiver.mjs'), filledIn(blocks('js')[0]!))
  type('npm install')
  const { id, secret } = type<Endpoint>('webhook_endpoints -d')
  Object.assign(seen, { we_: id, whsec_: [secret] })
  await startReceiver('WEBHOOK_SECRETS=whsec_… node')
  expect(type('/test -X POST')).toMatchObject({ success: true, status: 200 })
  await expectOutput('payment.succeeded')
  type('/v1/sdk/customers -d')
  await expectOutput('customer.created')
})

test('delivers failed webhooks once the receiver is up again', async () => {
  await stopReceiver()
  type('/v1/sdk/customers -d')
  const waiting = (): Delivery | undefined =>
    type<{ deliveries: Delivery[] }>('&state=pending').deliveries[0]
  await expect
    .poll(waiting, { timeout: 15_000 })
    .toMatchObject({ attempts: [{ error: 'unreachable' }], dueAt: expect.any(String) as string })
  seen.dlv_ = waiting()!.id
  await startReceiver('WEBHOOK_SECRETS=whsec_… node')
  expect(type('{"status":"disabled"}')).toMatchObject({ status: 'disabled' })
  await expect.poll(waiting, { timeout: 15_000 }).toBe(undefined)
  expect(type('{"status":"enabled"}')).toMatchObject({ status: 'enabled' })
  await expectOutput('customer.created')
})

test('resends a delivered webhook on request', async () => {
  printed = ''
  await expect
    .poll(() => type<{ id?: string }>('/replay -X POST').id, { timeout: 15_000 })
    .toMatch(/^dlv_/)
  await expectOutput('customer.created')
  await expect
    .poll(() => type<{ id?: string }>('"onlyFailed":true').id, { timeout: 15_000 })
    .toMatch(/^wr_/)
})

test('rotates a secret without a refused webhook', async () => {
  const { secret } = type<Endpoint>('/rotate -X POST')
  seen.whsec_.push(secret)
  await startReceiver('WEBHOOK_SECRETS=whsec_…,whsec_…')
  type('/v1/sdk/customers -d')
  await expectOutput('customer.created')
  type('/promote -X POST')
  type('/v1/sdk/customers -d')
  await expect.poll(() => printed.split('customer.created').length, { timeout: 15_000 }).toBe(3)
  expect(printed).not.toContain('Error')
})

test('runs every command of the page', () => {
  const here = readFileSync(fileURLToPath(import.meta.url), 'utf8')
  const parts = [...here.matchAll(/(?:type(?:<.*>)?|startReceiver)\(\s*'([^']+)'/g)].map(
    ([, part]) => part!,
  )
  const [, ...typed] = commands
  expect(typed.filter((command) => !parts.some((part) => command.includes(part)))).toEqual([])
  expect(blocks('js')).toHaveLength(1)
})

/** Returns the commands of `/docs` as this installation shows them. */
async function commandsOfGuide(): Promise<string> {
  const html = await (await fetch(`${instance.credentials.baseUrl}/docs`)).text()
  const names: Record<string, string> = { lt: '<', gt: '>', quot: '"', amp: '&', '#x27': "'" }
  return [...html.matchAll(/data-copied-as="sh"><pre[^>]*><code>([^]*?)<\/code>/g)]
    .map(([, text]) => text!.replaceAll(/&(#?\w+);/g, (_, name: string) => names[name]!))
    .join('\n')
}

test("shows the installation's address in the guide at /docs, whose commands work", async () => {
  const guide = await commandsOfGuide()
  expect(guide).toContain(`"${instance.credentials.baseUrl}$1"`)
  const script = guide.replace('sk_sandbox_…', instance.credentials.sandboxKey)
  const { stdout, stderr } = spawnSync('bash', ['-e', '-c', script], { encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(stdout).toContain('"status":"activated"')
  const remaining = [...stdout.matchAll(/"remaining":(\d+)/g)].map(([, units]) => units)
  expect(remaining).toEqual(['100', '99'])
})
