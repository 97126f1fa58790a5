import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiKeyDocumentKey, metersDocumentKey } from '@tollgate/schemas/hot-state/documents'
import { sha256OfSecretKey } from '@tollgate/domain/api-keys/secret-key'
import { CliError } from '../src/cli/cli-error.ts'
import { createProgram } from '../src/cli/program.ts'
import { startTestStack, type TestStack } from './test-stack.ts'

let stack: TestStack
let providerId: string

beforeAll(async () => {
  stack = await startTestStack()
  stack.clock.set('2026-03-01T00:00:00Z')
  const [line] = await tollgate('provider', 'create', '--name', 'Acme', '--currency', 'eur')
  providerId = /prv_[A-Z0-9]+/.exec(line ?? '')?.[0] ?? ''
})
afterAll(() => stack.stop())

/** Runs a command and returns what it printed. */
async function tollgate(...given: string[]): Promise<string[]> {
  const lines: string[] = []
  const program = createProgram((run) =>
    run({
      database: stack.database,
      hotState: stack.hotState,
      now: () => new Date(stack.clock.now()),
      print: (line) => lines.push(line),
    }),
  )
  await program.parseAsync(given, { from: 'user' })
  return lines
}

async function createKey(...more: string[]): Promise<{ keyId: string; secretKey: string }> {
  const lines = await tollgate(
    'key',
    'create',
    '--provider',
    providerId,
    '--environment',
    'sandbox',
    ...more,
  )
  return keyIn(lines)
}

function keyIn(lines: readonly string[]): { keyId: string; secretKey: string } {
  const text = lines.join('\n')
  const secretKey = /sk_(sandbox|live)_\w+/.exec(text)?.[0] ?? ''
  const line = lines.find((each) => each.includes(`...${secretKey.slice(-4)}`)) ?? ''
  return { keyId: /key_[A-Z0-9]+/.exec(line)?.[0] ?? '', secretKey }
}

async function statusWith(secretKey: string): Promise<number> {
  return (await stack.call(secretKey, 'GET', '/v1/sdk/products')).status
}

function published(secretKey: string): Promise<string | undefined> {
  return stack.hotState.readDocument(apiKeyDocumentKey(sha256OfSecretKey(secretKey)))
}

describe('providers', () => {
  test('are made with a meter in both environments, and listed', async () => {
    const lines = await tollgate('provider', 'list')
    expect(lines).toContain(`${providerId}  EUR  Acme`)
    for (const environment of ['sandbox', 'live'] as const) {
      const document = await stack.hotState.readDocument(metersDocumentKey(environment, providerId))
      expect(document).toContain('"requests"')
    }
  })

  test('need a name and a currency code', async () => {
    await expect(tollgate('provider', 'create', '--name', ' ')).rejects.toThrow(CliError)
    const wrong = tollgate('provider', 'create', '--name', 'A', '--currency', 'euro')
    await expect(wrong).rejects.toThrow('--currency euro is not a three-letter ISO 4217 code')
  })
})

describe('keys', () => {
  test('open both planes at once, and only their hash is kept', async () => {
    const { keyId, secretKey } = await createKey('--name', 'ci')
    expect(secretKey).toMatch(/^sk_sandbox_[0-9A-Za-z]{49}$/)
    expect(await statusWith(secretKey)).toBe(200)
    expect(JSON.parse((await published(secretKey)) ?? '')).toEqual({
      keyId,
      providerId,
      environment: 'sandbox',
      expiresAtMs: null,
    })
    const rows = await stack.database.control`select * from api_keys where key_id = ${keyId}`
    expect(JSON.stringify(rows)).not.toContain(secretKey.slice('sk_sandbox_'.length, -4))
    const listed = await tollgate('key', 'list', '--provider', providerId)
    expect(listed.join('\n')).not.toContain(secretKey)
    expect(listed).toContain(`${keyId}  sandbox  ...${secretKey.slice(-4)}  active  ci`)
  })

  test('stop when they expire', async () => {
    const { secretKey } = await createKey('--expires', '2026-03-02')
    expect(await statusWith(secretKey)).toBe(200)
    stack.clock.set('2026-03-02T00:00:00Z')
    expect(await statusWith(secretKey)).toBe(401)
    stack.clock.set('2026-03-01T00:00:00Z')
  })

  test('are revoked in both planes, and again without harm', async () => {
    const { keyId, secretKey } = await createKey()
    for (const _ of ['once', 'twice']) {
      expect(await tollgate('key', 'revoke', keyId)).toEqual([`key ${keyId} is revoked`])
    }
    expect(await statusWith(secretKey)).toBe(401)
    expect(await published(secretKey)).toBeUndefined()
  })

  test('are rotated with an overlap', async () => {
    const old = await createKey()
    const lines = await tollgate('key', 'rotate', old.keyId, '--overlap-hours', '2')
    const successor = keyIn(lines)
    expect(lines[0]).toBe(`key ${old.keyId} works until 2026-03-01T02:00:00.000Z`)
    expect(successor.keyId).not.toBe(old.keyId)
    expect(await statusWith(old.secretKey)).toBe(200)
    expect(await statusWith(successor.secretKey)).toBe(200)
    expect(await published(old.secretKey)).toContain(
      `"expiresAtMs":${Date.parse('2026-03-01T02:00:00Z')}`,
    )
    stack.clock.set('2026-03-01T02:00:00Z')
    expect(await statusWith(old.secretKey)).toBe(401)
    expect(await statusWith(successor.secretKey)).toBe(200)
    stack.clock.set('2026-03-01T00:00:00Z')
  })

  test('a rotation never makes a key last longer', async () => {
    const { keyId } = await createKey('--expires', '2026-03-01T01:00:00Z')
    const [line] = await tollgate('key', 'rotate', keyId, '--overlap-hours', '24')
    expect(line).toBe(`key ${keyId} works until 2026-03-01T01:00:00.000Z`)
  })

  test.each([
    [['key', 'rotate', 'key_NONE'], 'there is no key key_NONE'],
    [['key', 'revoke', 'key_NONE'], 'there is no key key_NONE'],
    [['key', 'list', '--provider', 'prv_NONE'], 'there is no provider prv_NONE'],
    [
      ['key', 'create', '--provider', 'prv_NONE', '--environment', 'live'],
      'there is no provider prv_NONE',
    ],
    [
      ['key', 'create', '--provider', 'prv_NONE', '--environment', 'test'],
      '--environment must be one of sandbox, live',
    ],
    [['key', 'rotate', 'key_NONE', '--overlap-hours', 'x'], '--overlap-hours must be a number'],
  ])('%j: %s', async (given, message) => {
    await expect(tollgate(...given)).rejects.toThrow(message)
  })

  test('cannot be issued with an end in the past', async () => {
    await expect(createKey('--expires', '2026-02-28')).rejects.toThrow('is in the past')
    await expect(createKey('--expires', 'soon')).rejects.toThrow('is not a date')
  })
})
