import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { scopesOfRole, type ConsoleRole } from '@tollgate/schemas/console-roles'
import { keyScopes, type KeyScope } from '@tollgate/schemas/key-scopes'
import { createUser, password, quickPasswords, signIn } from './console-user.ts'
import { operationRights, type Right } from './operation-rights.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* Calls every operation of the published description as every kind of caller. */

let stack: TestStack
let tenant: Tenant
let operations: readonly string[]

beforeAll(async () => {
  stack = await startTestStack({ settings: quickPasswords })
  tenant = await stack.createTenant()
  operations = await describedOperations()
})
afterAll(() => stack.stop())

type Description = { paths: Record<string, Record<string, { security: unknown[] }>> }

/**
 * Returns the operations of the control plane that need a credential of the provider. Ingest tests those of the data plane, and
 * other tests those of command lines and of signed-in customers.
 */
async function describedOperations(): Promise<string[]> {
  const { body } = await stack.call<Description>(undefined, 'GET', '/v1/openapi.json')
  return Object.entries(body.paths)
    .filter(
      ([path]) =>
        !/^\/v1\/(sdk\/usages|sdk\/meter-events|events)|\/cli-init\/|\/userinfo$/.test(path),
    )
    .flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { security }]) => security.length > 0)
        .map(([verb]) => `${verb.toUpperCase()} ${path}`),
    )
}

/** Bodies of operations that refuse keys only after they have read the body. */
const bodies: Readonly<Record<string, object>> = {
  'POST /v1/ui/auth/environment': { environment: 'sandbox' },
  'PUT /v1/ui/auth/password': { currentPassword: 'not this one', newPassword: password },
  'POST /v1/ui/users': { email: 'invited@example.com', role: 'member' },
}

/** Sends a request that names nothing that exists, and returns the status. */
async function statusOf(operation: string, credential: string | undefined): Promise<number> {
  const [method = '', path = ''] = operation.split(' ')
  const hasBody = method !== 'GET' && method !== 'DELETE'
  const answer = await stack.call(
    credential,
    method,
    path.replaceAll(/\{\w+\}/g, 'nobody'),
    hasBody ? (bodies[operation] ?? {}) : undefined,
  )
  return answer.status
}

/** Returns the operations that do not refuse the credential for its rights, sorted. */
async function servedTo(credential: string | undefined): Promise<string[]> {
  const served: string[] = []
  for (const operation of operations) {
    const status = await statusOf(operation, credential)
    expect(status, operation).toBeLessThan(500)
    if (status !== 401 && status !== 403) served.push(operation)
  }
  return served.sort()
}

function expectedFor(scopes: readonly KeyScope[], isUser: boolean): string[] {
  const has = (right: Right): boolean => {
    if (right === 'user') return isUser
    if (right === 'user who manages') return isUser && scopes.includes('manage')
    if (right === 'read or webhooks') return scopes.includes('read') || scopes.includes('webhooks')
    return scopes.includes(right)
  }
  return Object.entries(operationRights)
    .filter(([right]) => has(right as Right))
    .flatMap(([, listed]) => listed)
    .filter((operation) => !isUser || /^\w+ (\/v1)?\/ui\//.test(operation))
    .sort()
}

async function issueKey(fields: object): Promise<{ keyId: string; secretKey: string }> {
  const path = '/v1/ui/api-keys'
  const issued = await stack.call<{ keyId: string; secretKey: string }>(
    ...([tenant.sandboxKey, 'POST', path, fields] as const),
  )
  expect(issued.status).toBe(201)
  return issued.body
}

test('lists each operation once', () => {
  expect(Object.values(operationRights).flat().sort()).toEqual([...operations].sort())
})

test.each(keyScopes)('serves a key with the scope %s only what it may do', async (scope) => {
  const { secretKey } = await issueKey({ scopes: [scope] })
  expect(await servedTo(secretKey)).toEqual(expectedFor([scope], false))
})

test.each<ConsoleRole>(['member', 'admin'])(
  'serves a %s only what the role may do',
  async (role) => {
    const email = `${role}@example.com`
    await createUser(stack, tenant, email, role)
    // Signing out would end the session before the operations that follow.
    const { accessToken } = await signIn(stack, email)
    const withoutSignOut = (list: string[]) => list.filter((each) => !each.endsWith('/sign-out'))
    const all = operations
    operations = withoutSignOut([...all])
    try {
      const expected = withoutSignOut(expectedFor(scopesOfRole(role), true))
      expect(await servedTo(accessToken)).toEqual(expected)
    } finally {
      operations = all
    }
  },
)

test('serves nothing to callers without a valid credential of a provider', async () => {
  const revoked = await issueKey({})
  const path = `/v1/ui/api-keys/${revoked.keyId}`
  await stack.call(tenant.sandboxKey, 'DELETE', path)
  const { body: customer } = await stack.call<{ reference: string }>(
    ...([tenant.sandboxKey, 'POST', '/v1/sdk/customers', { email: 'ada@example.com' }] as const),
  )
  const sessions = '/v1/sdk/customers/customer-sessions'
  const { body: portal } = await stack.call<{ sessionId: string }>(
    ...([tenant.sandboxKey, 'POST', sessions, { customerRef: customer.reference }] as const),
  )
  await createUser(stack, tenant, 'gone@example.com')
  const { accessToken: signedOut } = await signIn(stack, 'gone@example.com')
  await stack.call(signedOut, 'POST', '/v1/ui/auth/sign-out', {})
  const credentials = {
    'no credential': undefined,
    'a revoked key': revoked.secretKey,
    'an invented key': tenant.sandboxKey.slice(0, -8) + randomUUID().slice(0, 8),
    "a customer's portal link": portal.sessionId,
    'a session that was signed out': signedOut,
  }
  for (const [name, credential] of Object.entries(credentials)) {
    expect(await servedTo(credential), name).toEqual([])
  }
})
