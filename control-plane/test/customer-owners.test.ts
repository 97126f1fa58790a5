import { serviceTokenOf } from '@tollgate/domain/api-keys/service-token'
import { readFolderSecret } from '@tollgate/platform/service/folder-secret'
import {
  customerOwnersPath,
  type CustomerOwnersResponse,
} from '@tollgate/schemas/http/customer-owners'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

let stack: TestStack
let tenant: Tenant
let other: Tenant
beforeAll(async () => {
  stack = await startTestStack()
  tenant = await stack.createTenant()
  other = await stack.createTenant()
})
afterAll(() => stack.stop())

let customers = 0

async function create(key: string, externalRef?: string): Promise<string> {
  const body = { email: `owned${customers++}@example.com`, externalRef }
  return (await stack.call<CustomerBody>(key, 'POST', '/v1/sdk/customers', body)).body.reference
}

async function owners(body: object) {
  const token = serviceTokenOf(await readFolderSecret(stack.folder), customerOwnersPath)
  const answer = await stack.call<CustomerOwnersResponse>(token, 'POST', customerOwnersPath, body)
  expect(answer.status).toBe(200)
  return answer.body.owners
}

it('finds active customers of all providers and environments only by their own references', async () => {
  const sandbox = await create(tenant.sandboxKey, 'user-1')
  const live = await create(tenant.liveKey)
  const foreign = await create(other.sandboxKey, live)
  const deleted = await create(tenant.sandboxKey)
  expect(
    (await stack.call(tenant.sandboxKey, 'DELETE', `/v1/ui/customers/${deleted}`)).status,
  ).toBe(200)
  const references = [foreign, 'user-1', live, sandbox, 'cus_NOBODY', deleted]
  expect(await owners({ references })).toEqual([
    [{ providerId: other.providerId, environment: 'sandbox' }],
    [],
    // The customer of the other provider with this external reference changes nothing.
    [{ providerId: tenant.providerId, environment: 'live' }],
    [{ providerId: tenant.providerId, environment: 'sandbox' }],
    [],
    [],
  ])
})

it('finds customers of one provider by any of their references, in both environments', async () => {
  const own = await create(tenant.sandboxKey, 'user-2')
  await create(tenant.liveKey, 'user-2')
  await create(other.sandboxKey, 'user-3')
  const { providerId } = tenant
  expect(await owners({ providerId, references: ['user-2', own, 'user-3'] })).toEqual([
    [
      { providerId, environment: 'sandbox' },
      { providerId, environment: 'live' },
    ],
    [{ providerId, environment: 'sandbox' }],
    [],
  ])
})

it('responds 404 to callers without the secret of the services', async () => {
  const body = { references: ['cus_NOBODY'] }
  for (const token of [tenant.sandboxKey, await readFolderSecret(stack.folder)]) {
    expect((await stack.call(token, 'POST', customerOwnersPath, body)).status).toBe(404)
  }
})
