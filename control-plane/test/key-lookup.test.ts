import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { insertApiKey, setApiKeyRevoked } from '@tollgate/domain/api-keys/repository'
import { migrationsFolder } from '@tollgate/domain/postgres/migrations-folder'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { createKeyLookup, type FindKey } from '../src/access/key-lookup.ts'

let server: TestDatabase
let control: TestDatabase['database']['control']
/** Statements that the lookups sent. */
let statements: string[]
let findKey: FindKey

beforeAll(async () => {
  server = await startTestDatabase(migrationsFolder)
  control = new Proxy(server.database.control, {
    apply(target, self, given: [TemplateStringsArray, ...unknown[]]) {
      statements.push(given[0].join('?'))
      return Reflect.apply(target, self, given) as unknown
    },
  })
  statements = []
  await server.database.control`
    insert into providers (provider_id, name, default_currency, created_at)
    values ('prov_1', 'Acme', 'USD', now())`
})

afterAll(async () => {
  await server.stop()
})

beforeEach(() => {
  findKey = createKeyLookup({ control })
  statements = []
})

async function createKey(name: string): Promise<string> {
  const keyId = `${name}_${randomUUID()}`
  const sha256 = createHash('sha256').update(keyId).digest('hex')
  await insertApiKey(server.database.control, {
    ...{ keyId, sha256, providerId: 'prov_1', environment: 'sandbox', name },
    ...{ scopes: ['read'], last4: '0000', createdAt: new Date(), expiresAt: null, revokedAt: null },
    isStrict: false,
  })
  return sha256
}

test('requests of one turn share a statement, and each gets its own key', async () => {
  const [first, second] = [await createKey('first'), await createKey('second')]
  const asked = [first, second, 'unknown', first]
  const found = await Promise.all(asked.map(findKey))
  expect(found.map((key) => key?.name)).toEqual(['first', 'second', undefined, 'first'])
  expect(statements.filter((each) => each.includes('from api_keys'))).toHaveLength(1)
})

test('a request sees a revocation that was committed before it, beside requests in flight', async () => {
  for (let round = 0; round < 20; round += 1) {
    const sha256 = await createKey('revoked')
    const { keyId } = (await findKey(sha256))!
    let isRevoked = false
    const ask = async (): Promise<void> => {
      while (!isRevoked) await findKey(sha256)
    }
    const others = [ask(), ask(), ask()]
    await setApiKeyRevoked(server.database.control, keyId, new Date())
    const found = await findKey(sha256)
    isRevoked = true
    await Promise.all(others)
    expect(found?.revokedAt).toBeInstanceOf(Date)
  }
})

test('a failed statement fails the requests of its turn, and no later one', async () => {
  const sha256 = await createKey('third')
  const failed = await Promise.allSettled([findKey(sha256), findKey('not text\0')])
  expect(failed).toMatchObject([{ reason: { code: '22021' } }, { reason: { code: '22021' } }])
  expect(await findKey(sha256)).toMatchObject({ name: 'third' })
})
