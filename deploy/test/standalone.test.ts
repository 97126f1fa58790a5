import { exec } from 'node:child_process'
import { cp, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTollgateClient, type TollgateClient } from '../src/client/tollgate-client.ts'
import { runDemo } from '../src/demo/run-demo.ts'
import { runToEnd, startInstance, type Instance } from '../src/instance/instance.ts'
import { killProcess, processTree } from '../src/instance/process-tree.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../src/instance/temporary-folder.ts'
import type { Credentials } from '../src/standalone/credentials.ts'
import { livingProcesses } from '../src/standalone/living-processes.ts'
import { findFreePort, host } from '../src/standalone/ports.ts'
import { outputShapes } from '../src/tollgate/output-shapes.ts'

const shell = promisify(exec)
const tollgate = fileURLToPath(new URL('../dist/tollgate/main.js', import.meta.url))

let folder: TemporaryFolder
let port: number
let instance: Instance

function start(): Promise<Instance> {
  return startInstance({ dataDir: folder.path, port, environment: process.env })
}

function clientOf(credentials: Credentials): TollgateClient {
  const { baseUrl, sandboxKey: key } = credentials
  return createTollgateClient({ baseUrl, key, connectionsMax: 8, timeoutMs: 15_000 })
}

const commandEnvironment = () => ({ ...process.env, TOLLGATE_DATA_DIR: folder.path })

/** What a command of operators prints. */
async function run(parameters: string): Promise<string> {
  const command = `${process.execPath} ${tollgate} ${parameters}`
  return (await shell(command, { env: commandEnvironment() })).stdout
}

beforeAll(async () => {
  folder = await makeTemporaryFolder('standalone')
  port = await findFreePort(new Set())
  instance = await start()
})

afterAll(async () => {
  await instance.stop()
  await folder.remove()
})

test('prints three commands that work as they stand', async () => {
  const commands = instance.output().match(/^ {2}curl .*$/gm) ?? []
  expect(commands).toHaveLength(3)
  const answers: unknown[] = []
  for (const command of commands) answers.push(JSON.parse((await shell(command)).stdout))
  expect(answers[0]).toMatchObject({ success: true })
  expect(answers[1]).toMatchObject({ withinLimits: true, remaining: 999 })
  expect(answers[2]).toMatchObject({ total: 1, count: 1 })
})

test('writes credentials for its owner only', async () => {
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

test('pays at a simulator of Stripe, which is ready and known to browsers', async () => {
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

test('sends webhooks of sandbox to this machine, and those of live nowhere near it', async () => {
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

test('a second start on the same folder says so in one line and stops', async () => {
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

test('the demo ends with numbers that agree', async () => {
  const lines: string[] = []
  const options = { seconds: 2, agents: 8, seed: 3 }
  expect(await runDemo(instance.credentials, options, (line) => lines.push(line))).toBe(true)
  expect(lines.at(-1)).toMatch(/^All \d+ customers agree to the unit\.$/)
})

test('the command line makes a provider and a key that works at once, and revokes it', async () => {
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

test('the data team reads ClickHouse with a user that changes nothing', async () => {
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

test('a clean stop ends everything with code 0, and a restart has kept all', async () => {
  const client = clientOf(instance.credentials)
  const { productRef } = instance.credentials
  const usage = { customerRef: 'user_grace', productRef, units: 7, idempotencyKey: 'kept' }
  const { reference } = await client.recordUsage(usage)
  const before = await client.checkLimit('user_grace', productRef)
  const { supervisorPid } = await instance.runFile()
  const tree = await processTree(supervisorPid)
  expect(tree.length).toBeGreaterThanOrEqual(7)

  expect(await instance.stop()).toBe(0)
  expect(await livingProcesses(tree)).toEqual([])
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

test('after a kill -9 of the supervisor alone its services end themselves and a start works', async () => {
  const { supervisorPid } = await instance.runFile()
  const tree = await processTree(supervisorPid)
  killProcess(supervisorPid)
  instance = await start()
  expect(await livingProcesses(tree)).toEqual([])
  const client = clientOf(instance.credentials)
  const check = await client.checkLimit('user_grace', instance.credentials.productRef)
  expect(check.remaining).toBe(993)
  client.close()
})

describe('refuses to start, in one line that says what to do,', () => {
  async function refusal(dataDir: string, wantedPort = 0): Promise<string> {
    const { code, output } = await runToEnd({
      dataDir,
      port: wantedPort,
      environment: process.env,
    })
    expect(code).toBe(1)
    const lines = output.trim().split('\n')
    expect(lines.slice(0, -1)).toEqual([`Starting Tollgate on ${dataDir} ...`])
    return lines.at(-1) ?? ''
  }

  test('when the port is in use', async () => {
    const other = await makeTemporaryFolder('refused')
    expect(await refusal(other.path, port)).toBe(
      `Port ${port} on ${host} is in use. Stop what listens there, or choose another port with TOLLGATE_PORT.`,
    )
    await other.remove()
  })

  test('when the folder was written by a newer version', async () => {
    const other = await makeTemporaryFolder('refused')
    await writeFile(join(other.path, 'format.json'), '{"format":99}')
    expect(await refusal(other.path)).toContain('was written by a newer Tollgate (format 99;')
    await other.remove()
  })

  test('when the folder is a file', async () => {
    const other = await makeTemporaryFolder('refused')
    await cp(process.execPath, join(other.path, 'file'))
    expect(await refusal(join(other.path, 'file'))).toContain(
      'Choose another with TOLLGATE_DATA_DIR.',
    )
    await other.remove()
  })

  test('when a setting cannot be read', async () => {
    const { code, output } = await runToEnd({
      dataDir: folder.path,
      port: 70_000,
      environment: process.env,
    })
    expect(code).toBe(1)
    expect(output.trim()).toBe('TOLLGATE_PORT=70000: must be a whole number from 0 to 65535')
  })
})
