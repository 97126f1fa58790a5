import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiKeyDocumentKey, metersDocumentKey } from '@tollgate/schemas/hot-state/documents'
import { sha256OfSecretKey } from '@tollgate/domain/api-keys/secret-key'
import { CliError } from '@tollgate/platform/cli/cli-error'
import { createCommandLine, finishCommandLine } from '@tollgate/platform/cli/command-line'
import type { MerchantBody } from '@tollgate/schemas/http/merchants'
import { addManagementCommands } from '../src/cli/program.ts'
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

/** Runs a command and returns the lines that it printed. */
async function tollgate(...given: string[]): Promise<string[]> {
  const lines: string[] = []
  const { program, output } = createCommandLine('tollgate', (text) =>
    lines.push(...text.split('\n')),
  )
  program.exitOverride().configureOutput({ writeErr: () => undefined })
  addManagementCommands(program, (run) =>
    run({
      database: stack.database,
      hotState: stack.hotState,
      actorOf: (operation) => ({ name: 'cli:ada', operation, requestId: null, ip: null }),
      now: () => new Date(stack.clock.now()),
      output,
      openSecrets: () => Promise.reject(new Error('no command here needs secrets')),
      hostedUrl: 'https://tollgate.example',
      passwordLinkMs: 3_600_000,
    }),
  )
  finishCommandLine(program)
  await program.parseAsync(given, { from: 'user' })
  return lines
}

/** Runs a command with `--json` and returns its document. */
async function json<Document = Record<string, unknown>>(...given: string[]): Promise<Document> {
  return JSON.parse((await tollgate(...given, '--json')).join('\n')) as Document
}

/** Runs a command and returns the columns of its list, without the header. */
async function rows(...given: string[]): Promise<string[][]> {
  const [, , ...lines] = await tollgate(...given)
  return lines.map((line) => line.split(/ {2,}/))
}

async function createKey(...more: string[]): Promise<{ keyId: string; secretKey: string }> {
  const wanted = ['--provider', providerId, '--environment', 'sandbox']
  return await json('key', 'create', ...wanted, ...more)
}

async function statusWith(secretKey: string): Promise<number> {
  return (await stack.call(secretKey, 'GET', '/v1/sdk/products')).status
}

function published(secretKey: string): Promise<string | undefined> {
  return stack.hotState.readDocument(apiKeyDocumentKey(sha256OfSecretKey(secretKey)))
}

describe('providers', () => {
  test('are created with a meter in both environments, and listed', async () => {
    expect(await rows('provider', 'list')).toContainEqual([
      providerId,
      'Acme',
      'EUR',
      'sandbox,live',
    ])
    expect((await tollgate('provider', 'list'))[0]).toMatch(
      /^ID +NAME +CURRENCY +ENVIRONMENTS +EMAIL$/,
    )
    expect(await json('provider', 'list')).toContainEqual({
      providerId,
      name: 'Acme',
      defaultCurrency: 'EUR',
      email: null,
      isLive: true,
    })
    expect(await tollgate('provider', 'list', '--quiet')).toContain(providerId)
    for (const environment of ['sandbox', 'live'] as const) {
      const document = await stack.hotState.readDocument(metersDocumentKey(environment, providerId))
      expect(document).toContain('"requests"')
    }
  })

  test('are refused in live until they are enabled, if created for sandbox only', async () => {
    const [newcomer = ''] = await tollgate(
      ...['provider', 'create', '--name', 'Newcomer', '--environments', 'sandbox', '-q'],
    )
    const listed = () => rows('provider', 'list')
    expect(await listed()).toContainEqual([newcomer, 'Newcomer', 'USD', 'sandbox'])
    const keyFor = async (environment: string) =>
      (
        await tollgate(
          ...['key', 'create', '--provider', newcomer, '--environment', environment, '--quiet'],
        )
      ).join('\n')
    const [sandboxKey, liveKey] = [await keyFor('sandbox'), await keyFor('live')]
    expect(await statusWith(sandboxKey)).toBe(200)
    expect((await stack.call(sandboxKey, 'GET', '/v1/sdk/merchant')).status).toBe(200)

    const refused = await stack.call(liveKey, 'GET', '/v1/sdk/products')
    expect(refused.status).toBe(403)
    expect(refused.body).toMatchObject({
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
    expect([missing.status, missing.body]).toMatchObject([
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
    expect(await listed()).toContainEqual([newcomer, 'Newcomer', 'USD', 'sandbox,live'])
  })

  test('show the latest name in both environments', async () => {
    const [renamed = ''] = await tollgate('provider', 'create', '--name', 'Old', '--quiet')
    const keyFor = async (environment: string) => {
      const options = ['--provider', renamed, '--environment', environment]
      return (await json<{ secretKey: string }>('key', 'create', ...options)).secretKey
    }
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
    expect(await rows('provider', 'list')).toContainEqual([renamed, 'New', 'USD', 'sandbox,live'])
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

  test('accept only sandbox, or sandbox,live', async () => {
    await expect(tollgate('provider', 'enable-live', 'prv_NOBODY')).rejects.toThrow(
      'There is no provider prv_NOBODY.',
    )
    const create = ['provider', 'create', '--name', 'A', '--environments']
    for (const list of ['live', 'sandbox,test', '']) {
      await expect(tollgate(...create, list)).rejects.toThrow(CliError)
    }
  })

  test('require a name, a currency code and a valid email address', async () => {
    const email = tollgate('provider', 'create', '--name', 'A', '--email', 'ada.example.com')
    await expect(email).rejects.toThrow('--email ada.example.com is not an email address.')
    await expect(tollgate('provider', 'create', '--name', ' ')).rejects.toThrow(CliError)
    const wrong = tollgate('provider', 'create', '--name', 'A', '--currency', 'euro')
    await expect(wrong).rejects.toThrow('--currency euro is not a three-letter ISO 4217 code')
  })
})

describe('keys', () => {
  test('work in both planes at once, and are stored as hashes only', async () => {
    const { keyId, secretKey } = await createKey('--name', 'ci')
    expect(secretKey).toMatch(/^sk_sandbox_[0-9A-Za-z]{49}$/)
    expect(await statusWith(secretKey)).toBe(200)
    expect(JSON.parse((await published(secretKey)) ?? '')).toEqual({
      keyId,
      providerId,
      environment: 'sandbox',
      expiresAtMs: null,
    })
    const stored = await stack.database.control`select * from api_keys where key_id = ${keyId}`
    expect(JSON.stringify(stored)).not.toContain(secretKey.slice('sk_sandbox_'.length, -4))
    const listed = await rows('key', 'list', '--provider', providerId)
    expect(JSON.stringify(listed)).not.toContain(secretKey)
    const shown = `...${secretKey.slice(-4)}`
    expect(listed).toContainEqual([keyId, 'sandbox', shown, 'active', 'all', 'ci'])
    expect(await json('key', 'list', '--provider', providerId)).toContainEqual(
      expect.objectContaining({ keyId, state: 'active', name: 'ci', expiresAt: null }),
    )
  })

  test('refuse unknown names in both planes if they are strict, as do their successors', async () => {
    const { keyId, secretKey } = await createKey('--strict')
    const successor = await json<{ keyId: string; secretKey: string }>('key', 'rotate', keyId)
    for (const key of [secretKey, successor.secretKey]) {
      expect(JSON.parse((await published(key))!)).toMatchObject({ isStrict: true })
      const { status, body } = await stack.call(key, 'GET', '/v1/sdk/products?limt=1')
      expect([status, body]).toMatchObject([400, { code: 'unknown_parameter' }])
    }
    const shown = `...${successor.secretKey.slice(-4)}`
    expect(await rows('key', 'list', '--provider', providerId)).toContainEqual([
      ...[successor.keyId, 'sandbox', shown, 'active', 'all', 'yes'],
    ])
  })

  test('are refused after their expiry', async () => {
    const { secretKey } = await createKey('--expires', '2026-03-02')
    expect(await statusWith(secretKey)).toBe(200)
    stack.clock.set('2026-03-02T00:00:00Z')
    expect(await statusWith(secretKey)).toBe(401)
    stack.clock.set('2026-03-01T00:00:00Z')
  })

  test('are revoked in both planes, and can be revoked again', async () => {
    const { keyId, secretKey } = await createKey()
    for (const _ of ['once', 'twice']) {
      expect(await tollgate('key', 'revoke', keyId)).toEqual([`Revoked key ${keyId}.`])
    }
    expect(await statusWith(secretKey)).toBe(401)
    expect(await published(secretKey)).toBeUndefined()
  })

  test('are rotated with an overlap', async () => {
    const old = await createKey()
    const successor = await json<{ keyId: string; secretKey: string; predecessor: object }>(
      ...['key', 'rotate', old.keyId, '--overlap-hours', '2'],
    )
    expect(successor.predecessor).toEqual({
      keyId: old.keyId,
      expiresAt: '2026-03-01T02:00:00.000Z',
    })
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

  test('never outlive the old expiry after a rotation', async () => {
    const { keyId } = await createKey('--expires', '2026-03-01T01:00:00Z')
    const lines = await tollgate('key', 'rotate', keyId, '--overlap-hours', '24')
    expect(lines).toContain(`Key ${keyId} works until 2026-03-01T01:00:00.000Z.`)
  })

  test.each([
    [['key', 'rotate', 'key_NONE'], 'There is no key key_NONE.'],
    [['key', 'revoke', 'key_NONE'], 'There is no key key_NONE.'],
    [['key', 'list', '--provider', 'prv_NONE'], 'There is no provider prv_NONE.'],
    [
      ['key', 'create', '--provider', 'prv_NONE', '--environment', 'live'],
      'There is no provider prv_NONE.',
    ],
    [
      ['key', 'create', '--provider', 'prv_NONE', '--environment', 'test'],
      'Allowed choices are sandbox, live.',
    ],
    [['key', 'rotate', 'key_NONE', '--overlap-hours', 'x'], '--overlap-hours must be a number'],
  ])('%j: %s', async (given, message) => {
    await expect(tollgate(...given)).rejects.toThrow(message)
  })

  test('cannot be issued with an expiry in the past', async () => {
    await expect(createKey('--expires', '2026-02-28')).rejects.toThrow('is in the past')
    await expect(createKey('--expires', 'soon')).rejects.toThrow('is not a date')
  })
})

describe('users of the console', () => {
  test('set a password with a link, and are listed and removed', async () => {
    const ofProvider = ['--provider', providerId]
    const create = (email: string, ...more: string[]) =>
      tollgate('user', 'create', ...ofProvider, '--email', email, ...more)
    const [line = '', url = ''] = await create('ada@example.com', '--name', 'Ada')
    const userId = /usr_[A-Z0-9]+/.exec(line)?.[0] ?? ''
    const listed = () => rows('user', 'list', ...ofProvider)
    const [page, token] = url.split('#token=')
    expect(page).toBe('https://tollgate.example/console/set-password')
    expect(await listed()).toEqual([[userId, 'owner', 'invited', 'ada@example.com', 'Ada']])
    const given = { token, password: 'correct horse battery' }
    const set = await stack.call(undefined, 'POST', '/v1/ui/auth/password', given)
    expect(set.status).toBe(200)
    expect(await listed()).toEqual([[userId, 'owner', 'active', 'ada@example.com', 'Ada']])
    const [second] = await tollgate('user', 'link', userId, ...ofProvider, '--quiet')
    expect(second).toMatch(/#token=[\w-]{43}$/)
    await expect(create('ADA@example.com')).rejects.toThrow('already has a user ADA@example.com')
    const remove = () => tollgate('user', 'remove', userId, ...ofProvider)
    await expect(remove()).rejects.toThrow('A provider keeps at least one owner')
    await create('eve@example.com')
    expect(await remove()).toEqual([`Removed user ${userId}.`])
    await expect(remove()).rejects.toThrow(`This provider has no user ${userId}.`)
  })

  test.each([
    [['--email', 'x', '--provider', 'P'], '--email x is not an email address'],
    [['--email', 'a@b.c', '--role', 'king', '--provider', 'P'], 'Allowed choices are owner'],
    [['--email', 'a@b.c', '--provider', 'prv_NONE'], 'There is no provider prv_NONE.'],
  ])('%j: %s', async (given, message) => {
    await expect(tollgate('user', 'create', ...given)).rejects.toThrow(message)
  })
})

test('reports whether the ledger agrees with itself, and where it does not', async () => {
  expect(await tollgate('ledger', 'verify')).toEqual([
    'Every transaction, wallet and invoice agrees with the ledger, and the ledger with its seals.',
  ])
  await stack.database.in('live')`
    insert into customers (provider_id, reference, email, status, created_at, updated_at)
    values (${providerId}, 'cus_odd', 'odd@example.com', 'active', now(), now())`
  await stack.database.in('live')`
    insert into wallets (provider_id, customer_ref, balance_micros, created_at, updated_at)
    values (${providerId}, 'cus_odd', 1500000, now(), now())`
  await expect(tollgate('ledger', 'verify')).rejects.toThrow(CliError)
})
