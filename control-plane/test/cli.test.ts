import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiKeyDocumentKey, metersDocumentKey } from '@tollgate/schemas/hot-state/documents'
import { sha256OfSecretKey } from '@tollgate/domain/api-keys/secret-key'
import { CliError } from '../src/cli/cli-error.ts'
import { createProgram } from '../src/cli/program.ts'
import type { MerchantBody } from '@tollgate/schemas/http/merchants'
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
      actorOf: (operation) => ({ name: 'cli:ada', operation, requestId: null, ip: null }),
      now: () => new Date(stack.clock.now()),
      print: (line) => lines.push(line),
      openSecrets: () => Promise.reject(new Error('no command here needs secrets')),
      hostedUrl: 'https://tollgate.example',
      passwordLinkMs: 3_600_000,
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

  test('made for sandbox alone are refused in live until they are enabled', async () => {
    const made = await tollgate(
      ...['provider', 'create', '--name', 'Newcomer', '--environments', 'sandbox'],
    )
    const newcomer = /prv_[A-Z0-9]+/.exec(made.join())![0]
    expect(await tollgate('provider', 'list')).toContain(`${newcomer}  USD  Newcomer  sandbox only`)
    const keyFor = async (environment: string) =>
      keyIn(await tollgate('key', 'create', '--provider', newcomer, '--environment', environment))
        .secretKey
    const [sandboxKey, liveKey] = [await keyFor('sandbox'), await keyFor('live')]
    expect(await statusWith(sandboxKey)).toBe(200)
    expect((await stack.call(sandboxKey, 'GET', '/v1/sdk/merchant')).status).toBe(200)

    const refused = await stack.call(liveKey, 'GET', '/v1/sdk/products')
    expect(refused.status).toBe(403)
    expect(refused.body).toEqual({
      statusCode: 403,
      error: 'Forbidden',
      message: {
        code: 'key_env_mismatch',
        keyEnvironment: 'live',
        providerEnvironment: 'sandbox',
      },
    })
    const missing = await stack.call(liveKey, 'GET', '/v1/sdk/merchant')
    const facts = {
      code: 'provider_not_found_in_environment',
      requestedEnvironment: 'live',
      providerExistsInSandbox: true,
    }
    const words = expect.any(String) as string
    expect([missing.status, missing.body]).toEqual([
      404,
      { statusCode: 404, error: 'Not Found', ...facts, message: { ...facts, message: words } },
    ])
    expect(JSON.parse((await published(liveKey))!)).toMatchObject({ isMisplaced: true })
    const own = await stack.call(liveKey, 'GET', '/v1/sdk/key')
    expect([own.status, own.body]).toMatchObject([200, { isMisplaced: true }])

    await tollgate('provider', 'enable-live', newcomer)
    await tollgate('provider', 'enable-live', newcomer)
    expect(await statusWith(liveKey)).toBe(200)
    expect((await stack.call(liveKey, 'GET', '/v1/sdk/merchant')).status).toBe(200)
    expect(JSON.parse((await published(liveKey))!)).not.toHaveProperty('isMisplaced')
    expect(await tollgate('provider', 'list')).toContain(`${newcomer}  USD  Newcomer`)
  })

  test('get the name that they are given last, in both environments', async () => {
    const made = await tollgate('provider', 'create', '--name', 'Old')
    const renamed = /prv_[A-Z0-9]+/.exec(made.join())![0]
    const keyFor = async (environment: string) =>
      keyIn(await tollgate('key', 'create', '--provider', renamed, '--environment', environment))
        .secretKey
    const keys = [await keyFor('sandbox'), await keyFor('live')]
    const namesOf = () =>
      Promise.all(
        keys.map(async (key) => {
          const { body } = await stack.call<MerchantBody>(key, 'GET', '/v1/sdk/merchant')
          return [body.name, body.displayName, body.legalName].join()
        }),
      )
    await stack.call(keys[0], 'PATCH', '/v1/ui/merchant', { name: 'Sandbox only' })
    expect(await namesOf()).toEqual(['Sandbox only,Sandbox only,Sandbox only', 'Old,Old,Old'])
    await tollgate('provider', 'rename', renamed, '--name', ' New ')
    expect(await namesOf()).toEqual(['New,New,New', 'New,New,New'])
    expect(await tollgate('provider', 'list')).toContain(`${renamed}  USD  New`)
    for (const [provider, name] of [
      [renamed, ' '],
      [renamed, 'x'.repeat(513)],
      ['prv_NOBODY', 'A'],
    ] as const) {
      await expect(tollgate('provider', 'rename', provider, '--name', name)).rejects.toThrow(
        CliError,
      )
    }
  })

  test('are live or not, and nothing else', async () => {
    await expect(tollgate('provider', 'enable-live', 'prv_NOBODY')).rejects.toThrow(
      'there is no provider prv_NOBODY',
    )
    const create = ['provider', 'create', '--name', 'A', '--environments']
    for (const list of ['live', 'sandbox,test', '']) {
      await expect(tollgate(...create, list)).rejects.toThrow(CliError)
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

describe('users of the console', () => {
  test('are let in with a link, listed and removed', async () => {
    const ofProvider = ['--provider', providerId]
    const create = (email: string, ...more: string[]) =>
      tollgate('user', 'create', ...ofProvider, '--email', email, ...more)
    const [line = '', url = ''] = await create('ada@example.com', '--name', 'Ada')
    const userId = /usr_[A-Z0-9]+/.exec(line)?.[0] ?? ''
    const [page, token] = url.split('#token=')
    expect(page).toBe('https://tollgate.example/console/set-password')
    expect(await tollgate('user', 'list', ...ofProvider)).toEqual([
      `${userId}  owner  invited  ada@example.com  Ada`,
    ])
    const given = { token, password: 'correct horse battery' }
    const set = await stack.call(undefined, 'POST', '/v1/ui/auth/password', given)
    expect(set.status).toBe(200)
    expect(await tollgate('user', 'list', ...ofProvider)).toEqual([
      `${userId}  owner  active  ada@example.com  Ada`,
    ])
    const [second] = await tollgate('user', 'link', userId, ...ofProvider)
    expect(second).toMatch(/#token=[\w-]{43}$/)
    await expect(create('ADA@example.com')).rejects.toThrow('there is a user ADA@example.com')
    const remove = () => tollgate('user', 'remove', userId, ...ofProvider)
    await expect(remove()).rejects.toThrow('a provider keeps at least one owner')
    await create('eve@example.com')
    expect(await remove()).toEqual([`user ${userId} is removed`])
    await expect(remove()).rejects.toThrow(`this provider has no user ${userId}`)
  })

  test.each([
    [['--email', 'x', '--provider', 'P'], '--email x is not an email address'],
    [['--email', 'a@b.c', '--role', 'king', '--provider', 'P'], '--role must be one of owner'],
    [['--email', 'a@b.c', '--provider', 'prv_NONE'], 'there is no provider prv_NONE'],
  ])('%j: %s', async (given, message) => {
    await expect(tollgate('user', 'create', ...given)).rejects.toThrow(message)
  })
})

test('the ledger is found to agree with itself, or where it does not', async () => {
  expect(await tollgate('ledger', 'verify')).toEqual([
    'every transaction, wallet and invoice agrees with the ledger, and the ledger with its seals',
  ])
  await stack.database.in('live')`
    insert into customers (provider_id, reference, email, status, created_at, updated_at)
    values (${providerId}, 'cus_odd', 'odd@example.com', 'active', now(), now())`
  await stack.database.in('live')`
    insert into wallets (provider_id, customer_ref, balance_micros, created_at, updated_at)
    values (${providerId}, 'cus_odd', 1500000, now(), now())`
  await expect(tollgate('ledger', 'verify')).rejects.toThrow(CliError)
})
