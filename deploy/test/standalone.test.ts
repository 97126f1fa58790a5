import { exec } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTollgateClient, type TollgateClient } from '../src/client/tollgate-client.ts'
import { runDemo } from '../../tools/src/demo/run-demo.ts'
import { runToEnd, startInstance, type Instance } from '../../tools/src/instance/instance.ts'
import { killProcess, processTree } from '../../tools/src/instance/process-tree.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../src/standalone/temporary-folder.ts'
import type { Credentials } from '../src/standalone/credentials.ts'
import { runningProcesses } from '../src/standalone/running-processes.ts'
import { findFreePort, host } from '../src/standalone/ports.ts'
import { launchChromium } from './pages/chromium.ts'
import { enterCard } from './pages/paying.ts'
import { createVisitor, type Visitor } from './pages/visitor.ts'
import { outputShapes } from '../src/tollgate/output-shapes.ts'

const shell = promisify(exec)
const tollgate = fileURLToPath(new URL('../dist/bundled/tollgate/main.js', import.meta.url))

let folder: TemporaryFolder
let port: number
let instance: Instance
let browser: Browser

function start(): Promise<Instance> {
  return startInstance({ dataDir: folder.path, port, environment: process.env })
}

function clientOf(credentials: Credentials): TollgateClient {
  const { baseUrl, sandboxKey: key } = credentials
  return createTollgateClient({ baseUrl, key, connectionsMax: 8, timeoutMs: 15_000 })
}

const commandEnvironment = () => ({ ...process.env, TOLLGATE_DATA_DIR: folder.path })

/** Returns the output of an operator's command. */
async function run(parameters: string): Promise<string> {
  const command = `${process.execPath} ${tollgate} ${parameters}`
  return (await shell(command, { env: commandEnvironment() })).stdout
}

beforeAll(async () => {
  folder = await makeTemporaryFolder('standalone')
  port = await findFreePort(new Set())
  ;[instance, browser] = await Promise.all([start(), launchChromium()])
})

afterAll(async () => {
  await browser.close()
  await instance.stop()
  await folder.remove()
})

/** Runs one of the printed example commands in a shell. */
async function runPrinted(at: number): Promise<Record<string, unknown>> {
  const commands = instance.output().match(/^ {2}curl .*$/gm) ?? []
  expect(commands).toHaveLength(4)
  return JSON.parse((await shell(commands[at]!)).stdout) as Record<string, unknown>
}

describe('the printed commands', () => {
  test('record and count calls until the limit check offers the checkout', async () => {
    expect(instance.output()).toContain(`in a browser   http://${host}:${port}/\n`)
    const debit = (unitsRemaining: number): object => ({
      success: true,
      creditDebit: { debited: true, unitsRemaining },
    })
    expect(await runPrinted(0)).toMatchObject(debit(4))
    expect(await runPrinted(1)).toMatchObject({ withinLimits: true, remaining: 4 })
    expect(await runPrinted(2)).toMatchObject(debit(0))
    expect(await runPrinted(3)).toMatchObject({ total: 5, count: 2 })
  })

  test('allow calls again once the checkout is paid', async () => {
    const denied = await runPrinted(1)
    expect(denied).toMatchObject({ withinLimits: false, remaining: 0 })
    const visitor = await createVisitor(browser)
    const { page } = visitor
    await page.goto(denied['checkoutUrl'] as string)
    await page.getByLabel('Amount', { exact: true }).fill('10')
    await page.getByRole('button', { name: 'Continue to payment' }).click()
    await enterCard(page, '4242424242424242')
    await page.waitForURL(/\/customer\/checkout\/cs_\w+/)
    await expect
      .poll(() => runPrinted(1), { timeout: 30_000 })
      .toMatchObject({ withinLimits: true, remaining: 10_000 })
    await visitor.close()
  })
})

/**
 * Reads the start page with a foreign host name whose DNS resolves to this machine. `fetch` cannot set the Host header, so curl is
 * used.
 */
async function readUnderHost(name: string): Promise<string> {
  const header = `-H 'Accept: text/html' -H 'Host: ${name}'`
  return (await shell(`curl -s ${header} ${instance.credentials.baseUrl}/`)).stdout
}

describe('in a browser', () => {
  let visitor: Visitor
  beforeAll(async () => {
    visitor = await createVisitor(browser)
  })
  afterAll(() => visitor.close())

  test('shows the commands on the start page, and opens the pages of the demo customer', async () => {
    const { page } = visitor
    const { baseUrl, sandboxKey, liveKey } = instance.credentials
    await page.goto(baseUrl)
    const text = await page.locator('main').innerText()
    expect(text).toContain(sandboxKey)
    expect(text).not.toContain(liveKey)
    await visitor.inspect('start-page')
    const health = page.getByRole('link', { name: 'control-plane' })
    const ready = await fetch((await health.getAttribute('href'))!)
    expect(await ready.json()).toMatchObject({ status: 'ok' })
    await page.getByRole('button', { name: 'Open the portal of Ada' }).click()
    await page.waitForURL(/\/customer\/manage\/[0-9a-f]{20}$/)
    await page.goto(baseUrl)
    await page.getByRole('button', { name: 'Open a checkout for Ada' }).click()
    await page.waitForURL(/\/customer\/checkout\/cs_\w+$/)
  })

  test('shows no key on the start page to other machines or under another host name', async () => {
    const { baseUrl, sandboxKey } = instance.credentials
    const readAs = async (headers: Record<string, string>): Promise<string> =>
      (await fetch(baseUrl, { headers: { accept: 'text/html', ...headers } })).text()
    expect(await readAs({})).toContain(sandboxKey)
    const others = [
      { 'x-forwarded-for': '203.0.113.9' },
      { 'x-forwarded-host': 'tollgate.example' },
      { forwarded: 'for=203.0.113.9' },
      { via: '1.1 tunnel' },
    ]
    const texts = [
      ...(await Promise.all(others.map(readAs))),
      await readUnderHost(`rebound.example:${port}`),
    ]
    for (const text of texts) {
      expect(text).toContain('First steps')
      expect(text).not.toContain(sandboxKey)
      expect(text).not.toContain('/demo/')
    }
    const forged = await fetch(`${baseUrl}/demo/portal`, { method: 'POST' })
    expect(forged.status).toBe(403)
  })

  test('shows a page for an unknown path', async () => {
    await visitor.page.goto(`${instance.credentials.baseUrl}/no/such/page`)
    await visitor.page.getByRole('heading', { name: 'There is nothing here' }).waitFor()
    await visitor.inspect('not-found')
  })

  test('lets a new console user set a password, sign in and approve a command line', async () => {
    const { page } = visitor
    const { baseUrl } = instance.credentials
    const providerId = /provider (\S+)/.exec(await run('provider create --name Acme'))?.[1]
    const created = await run(`user create --provider ${providerId} --email ada@acme.example`)
    await page.goto(/http\S+/.exec(created)![0])
    await visitor.inspect('console-set-password')
    const password = 'correct horse battery'
    await page.getByLabel('New password').fill(password)
    await page.getByLabel('The same password again').fill(password)
    await page.getByRole('button', { name: 'Set password' }).click()
    await page.getByText('Your password is set.').waitFor()
    expect(await page.getByLabel('Email address').inputValue()).toBe('ada@acme.example')

    const sessions = `${baseUrl}/v1/ui/provider/auth/cli-init/sessions`
    const opened = await fetch(sessions, { method: 'POST', headers: { 'user-agent': 'acme-cli' } })
    const { sessionId, authUrl, pollToken, userCode } = (await opened.json()) as Record<
      string,
      string
    >
    await page.goto(authUrl!)
    await visitor.inspect('console-sign-in')
    await page.getByLabel('Email address').fill('ada@acme.example')
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText(userCode!).waitFor()
    await page.getByText('acme-cli').waitFor()
    await visitor.inspect('console-approve')
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('heading', { name: 'Approved' }).waitFor()
    await visitor.inspect('console-approved')
    const exchanged = await fetch(`${sessions}/${sessionId}/exchange`, {
      method: 'POST',
      headers: { authorization: `Bearer ${pollToken}` },
    })
    expect(await exchanged.json()).toMatchObject({
      secretKey: expect.stringMatching(/^sk_sandbox_/) as unknown,
    })
    await page.goto(`${baseUrl}/console`)
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    await visitor.inspect('console')
  })
})

test('writes credentials that only their owner can read', async () => {
  const path = join(folder.path, 'credentials.json')
  const { baseUrl, sandboxKey, liveKey, productRef } = JSON.parse(
    await readFile(path, 'utf8'),
  ) as Credentials
  expect(baseUrl).toBe(`http://${host}:${port}`)
  expect(sandboxKey).toMatch(/^sk_sandbox_[0-9A-Za-z]{49}$/)
  expect(liveKey).toMatch(/^sk_live_[0-9A-Za-z]{49}$/)
  expect(productRef).toMatch(/^prd_/)
  for (const name of ['credentials.json', 'run.json']) {
    expect((await stat(join(folder.path, name))).mode & 0o077).toBe(0)
  }
})

test('pays at the simulator of Stripe, which browsers can reach', async () => {
  const { adminUrls, environment } = await instance.runFile()
  const ready = await fetch(`${adminUrls['stripe-simulator']}/health/ready`)
  expect(await ready.json()).toEqual({ status: 'ok', checks: { state: 'ok' } })
  const credentials = JSON.parse(
    await readFile(join(folder.path, 'credentials.json'), 'utf8'),
  ) as Credentials
  const config = await fetch(`${credentials.baseUrl}/v1/sdk/platform-config`, {
    headers: { authorization: `Bearer ${credentials.sandboxKey}` },
  })
  const publishable = environment['TOLLGATE_STRIPE_SANDBOX_PUBLISHABLE_KEY']
  expect(await config.json()).toEqual({ stripePublishableKey: publishable })
})

test('sends webhooks to this machine in sandbox, but not in live', async () => {
  const received: string[] = []
  const receiver = createServer((request, response) => {
    received.push(request.url ?? '')
    response.end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, host, resolve))
  const url = `http://localhost:${(receiver.address() as AddressInfo).port}/hooks`
  const { baseUrl, sandboxKey, liveKey } = instance.credentials
  const post = async (key: string, path: string, body: object): Promise<Record<string, string>> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const answer = await fetch(`${baseUrl}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    return (await answer.json()) as Record<string, string>
  }
  const { id } = await post(sandboxKey, '/v1/webhook_endpoints', { url })
  await post(sandboxKey, '/v1/sdk/customers', { email: 'hooked@example.com', name: 'Hooked' })
  await expect.poll(() => received, { timeout: 15_000 }).toContain('/hooks')
  expect(await post(sandboxKey, `/v1/ui/webhooks/${id}/test`, {})).toMatchObject({ success: true })
  expect((await post(liveKey, '/v1/webhook_endpoints', { url }))['message']).toBe(
    'url must begin with https://',
  )
  receiver.closeAllConnections()
  await new Promise((resolve) => receiver.close(resolve))
})

test('refuses a second start on the same folder in one line', async () => {
  const { code, output } = await runToEnd({
    dataDir: folder.path,
    port: 0,
    environment: process.env,
  })
  const { supervisorPid } = await instance.runFile()
  expect(code).toBe(1)
  expect(output.trim().split('\n').at(-1)).toBe(
    `Tollgate already runs on ${folder.path} (process ${supervisorPid}). ` +
      'Stop it first, or choose another folder with TOLLGATE_DATA_DIR.',
  )
})

test('ends the demo with matching numbers', async () => {
  const lines: string[] = []
  const options = { seconds: 2, agents: 8, seed: 3 }
  expect(await runDemo(instance.credentials, options, (line) => lines.push(line))).toBe(true)
  expect(lines.at(-1)).toMatch(/^All \d+ customers agree to the unit\.$/)
})

test('creates a provider and a working key by the command line, and revokes it', async () => {
  const providerId = (await run('provider create --name Acme --quiet')).trim()
  const created = await run(`key create --provider ${providerId} --environment sandbox --json`)
  const { keyId, secretKey: key } = JSON.parse(created) as { keyId: string; secretKey: string }
  const described = outputShapes['key create']!.json as object
  expect(Object.keys(JSON.parse(created) as object)).toEqual(Object.keys(described))
  const client = createTollgateClient({
    baseUrl: instance.credentials.baseUrl,
    key,
    connectionsMax: 1,
    timeoutMs: 15_000,
  })
  expect((await client.send('GET', '/v1/sdk/products')).body).toMatchObject({ products: [] })
  expect((await client.recordUsage({ customerRef: 'anyone' })).success).toBe(true)
  await run(`key revoke ${keyId}`)
  await expect
    .poll(async () => (await client.send('POST', '/v1/sdk/usages', {})).status, { timeout: 20_000 })
    .toBe(401)
  client.close()
})

test('lets the data team read ClickHouse with a read-only user', async () => {
  const { curl, address } = JSON.parse(await run('clickhouse --json')) as Record<string, string>
  expect((await run('clickhouse --quiet')).trim()).toBe(address)
  expect((await stat(join(folder.path, 'data-team', 'password'))).mode & 0o077).toBe(0)
  expect((await shell(curl!)).stdout).toMatch(/^requests\t\d+\n/)
  const query = `--query "SELECT 1 AS a; SELECT ';' AS b"`
  expect(await run(`clickhouse ${query} --format CSVWithNames`)).toBe('"a"\n1\n"b"\n";"\n')
  const piped = `echo 'SELECT 1; SELECT 2' | ${process.execPath} ${tollgate} clickhouse`
  expect((await shell(piped, { env: commandEnvironment() })).stdout).toBe('1\n2\n')
  const refused = run('clickhouse --query "DROP TABLE live.usage_records"')
  await expect(refused).rejects.toThrow(
    'Code: 164. DB::Exception: Cannot execute query in readonly',
  )
})

test('stops everything with code 0, and keeps all data over a restart', async () => {
  const client = clientOf(instance.credentials)
  const { productRef } = instance.credentials
  const usage = { customerRef: 'user_grace', productRef, units: 7, idempotencyKey: 'kept' }
  const { reference } = await client.recordUsage(usage)
  const before = await client.checkLimit('user_grace', productRef)
  const { supervisorPid } = await instance.runFile()
  const tree = await processTree(supervisorPid)
  expect(tree.length).toBeGreaterThanOrEqual(7)

  expect(await instance.stop()).toBe(0)
  expect(await runningProcesses(tree)).toEqual([])
  const { credentials } = instance
  instance = await start()
  expect(instance.credentials).toEqual(credentials)
  expect(await client.checkLimit('user_grace', productRef)).toEqual(before)
  expect(await client.recordUsage(usage)).toMatchObject({
    reference,
    creditDebit: { debited: false, reason: 'duplicate' },
  })
  client.close()
})

test('ends all services after a kill -9 of the supervisor, and starts again', async () => {
  const { supervisorPid } = await instance.runFile()
  const tree = await processTree(supervisorPid)
  killProcess(supervisorPid)
  instance = await start()
  expect(await runningProcesses(tree)).toEqual([])
  const client = clientOf(instance.credentials)
  const check = await client.checkLimit('user_grace', instance.credentials.productRef)
  expect(check.remaining).toBe(993)
  client.close()
})

test('stops at once on a second Ctrl-C, and keeps the data', async () => {
  const { supervisorPid, processes } = await instance.runFile()
  const pids = Object.values(processes)
  expect(await runningProcesses(pids)).toHaveLength(pids.length)
  // The stop waits for a suspended part.
  process.kill(processes['ingest']!, 'SIGSTOP')
  const stopped = instance.stop()
  await expect.poll(() => instance.output()).toContain('Ctrl-C again')
  // npm may forward a signal that the terminal has already sent. Both count as one Ctrl-C.
  process.kill(supervisorPid, 'SIGINT')
  await sleep(600)
  expect(instance.output()).not.toContain('Ended at once.')
  process.kill(supervisorPid, 'SIGINT')
  expect(await stopped).toBe(130)
  await expect.poll(() => runningProcesses(pids)).toEqual([])
  instance = await start()
  const client = clientOf(instance.credentials)
  const check = await client.checkLimit('user_grace', instance.credentials.productRef)
  expect(check.remaining).toBe(993)
  client.close()
})
