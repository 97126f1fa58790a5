import type { ChildProcess } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listApiKeys } from '@tollgate/domain/api-keys/repository'
import { sha256OfSecretKey } from '@tollgate/domain/api-keys/secret-key'
import type { PublicationKind } from '@tollgate/domain/publications/repository'
import {
  apiKeyDocumentKey,
  metersDocumentKey,
  offerDocumentKey,
  type Entitlement,
  type PublishedMeters,
} from '@tollgate/schemas/hot-state/documents'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { MeterBody } from '@tollgate/schemas/http/meters'
import type { ProductBody } from '@tollgate/schemas/http/products'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'
import { runUntilKilled, type KillPoint } from './run-until-killed.ts'
import { pendingTargets } from './waiting-targets.ts'

/*
 * A process that dies between the commit of a change and its publication, or between the publication and the removal of its row,
 * leaves the row. The next start publishes it without another request. The test kills a real process at exactly that write.
 */

let stack: TestStack
let tenant: Tenant
const children = new Set<ChildProcess>()

beforeAll(async () => {
  // The long interval ensures that only the process under test and its successor publish.
  stack = await startTestStack({ settings: { TOLLGATE_PUBLISH_INTERVAL_MS: '3600000' } })
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await stack.stop()
})

/** Runs the process until it is killed at the given write. `useOf` sends a request as soon as the process serves. */
const killAtPoint = (
  killPoint: KillPoint,
  command: readonly string[],
  useOf?: (port: number) => Promise<unknown>,
) => runUntilKilled(stack, killPoint, command, useOf, (child) => children.add(child))

async function call<Body>(method: string, path: string, body?: unknown): Promise<Body> {
  const answer = await stack.call<Body>(tenant.sandboxKey, method, path, body)
  expect(answer.status).toBeLessThan(300)
  return answer.body
}

async function waitingKinds(): Promise<ReadonlySet<string>> {
  const pools = [stack.database.control, stack.database.in('sandbox'), stack.database.in('live')]
  const targets = await Promise.all(pools.map((pool) => pendingTargets(pool)))
  return new Set(targets.flat().map(({ kind }) => kind))
}

/** Starts and stops a service in the normal way, without any request. */
async function startAndStopSuccessor(): Promise<void> {
  const successor = stack.createService()
  await successor.start()
  await successor.stop()
}

async function entry(reference: string, scope: string): Promise<string | undefined> {
  const subject = subjectKey(tenant.providerId, reference)
  const partition = partitionOf(subject, stack.eventLog.partitionCount(usageTopic('sandbox')))
  return stack.hotState.readEntryDocument({ space: 'sandbox', partition, subject, scope })
}

async function meterStatus(name: string): Promise<string | undefined> {
  const key = metersDocumentKey('sandbox', tenant.providerId)
  const document = JSON.parse((await stack.hotState.readDocument(key)) ?? '') as PublishedMeters
  return document.meters[name]?.status
}

function offer(productRef: string): Promise<string | undefined> {
  return stack.hotState.readDocument(offerDocumentKey('sandbox', tenant.providerId, productRef))
}

async function createProduct(name: string): Promise<string> {
  const { reference } = await call<ProductBody>('POST', '/v1/sdk/products', { name })
  await call('POST', `/v1/sdk/products/${reference}/plans`, { name: 'Free', default: true })
  return reference
}

async function createCustomer(email: string): Promise<string> {
  return (await call<CustomerBody>('POST', '/v1/sdk/customers', { email })).reference
}

type Change = {
  readonly kind: PublicationKind
  /** The request or the command that the process runs when it is killed. */
  readonly call: readonly [method: string, path: string, body?: unknown] | { command: string[] }
  /** Returns whether the data plane has the change. */
  readonly isPublished: () => Promise<boolean>
}

/** Changes. Each first prepares what it needs, with a control plane that stays alive. */
const changes: Record<string, () => Promise<Change>> = {
  'a new meter': async () => ({
    kind: 'meters',
    call: ['POST', '/v1/ui/meters', { name: 'tokens' }],
    isPublished: async () => (await meterStatus('tokens')) === 'active',
  }),
  'an archived meter': async () => {
    const { reference } = await call<MeterBody>('POST', '/v1/ui/meters', { name: 'pages' })
    return {
      kind: 'meters',
      call: ['PATCH', `/v1/ui/meters/${reference}`, { status: 'archived' }],
      isPublished: async () => (await meterStatus('pages')) === 'archived',
    }
  },
  'a new product': async () => ({
    kind: 'offer',
    call: ['POST', '/v1/sdk/products', { name: 'Atlas' }],
    isPublished: async () => {
      const path = '/v1/sdk/products?search=Atlas'
      const { products } = await call<{ products: ProductBody[] }>('GET', path)
      return (await offer(products[0]?.reference ?? ''))?.includes('Atlas') === true
    },
  }),
  'a new plan': async () => {
    const productRef = await createProduct('API')
    return {
      kind: 'offer',
      call: ['POST', `/v1/sdk/products/${productRef}/plans`, { name: 'Gold', price: 900 }],
      isPublished: async () => (await offer(productRef))?.includes('Gold') === true,
    }
  },
  'a deleted product': async () => {
    const productRef = await createProduct('API')
    const customerRef = await createCustomer('holder@example.com')
    await call('POST', '/v1/sdk/limits', { customerRef, productRef })
    return {
      kind: 'offer',
      call: ['DELETE', `/v1/sdk/products/${productRef}`],
      isPublished: async () => {
        const held = JSON.parse((await entry(customerRef, productRef)) ?? '') as Entitlement
        return (await offer(productRef)) === undefined && held.endsAtMs !== null
      },
    }
  },
  'a new customer': async () => ({
    kind: 'customer',
    call: ['POST', '/v1/sdk/customers', { email: 'ada@example.com', externalRef: 'ada' }],
    isPublished: async () => {
      const { reference } = await call<CustomerBody>('GET', '/v1/sdk/customers?externalRef=ada')
      const known = JSON.stringify({ customerRef: reference })
      return (await entry(reference, '')) === known && (await entry('ada', '')) === known
    },
  }),
  'a linked reference': async () => {
    const reference = await createCustomer('bob@example.com')
    return {
      kind: 'customer',
      call: ['PATCH', `/v1/sdk/customers/${reference}`, { externalRef: 'bob' }],
      isPublished: async () => (await entry('bob', '')) !== undefined,
    }
  },
  'an entitlement': async () => {
    const productRef = await createProduct('API')
    const customerRef = await createCustomer('eve@example.com')
    return {
      kind: 'customer',
      call: ['POST', '/v1/sdk/limits', { customerRef, productRef }],
      isPublished: async () => (await entry(customerRef, productRef)) !== undefined,
    }
  },
  'a new key': async () => ({
    kind: 'api-key',
    call: {
      command: ['key', 'create', '--provider', tenant.providerId, '--environment', 'sandbox'],
    },
    isPublished: async () => (await publishedKeys()).length === 3,
  }),
  'a rotated key': async () => {
    const sha256 = sha256OfSecretKey(tenant.liveKey)
    const old = (await listApiKeys(stack.database.control, tenant.providerId)).find(
      (key) => key.sha256 === sha256,
    )
    return {
      kind: 'api-key',
      call: { command: ['key', 'rotate', old?.keyId ?? ''] },
      isPublished: async () => {
        const document = await stack.hotState.readDocument(apiKeyDocumentKey(sha256))
        return (await publishedKeys()).length === 3 && !document?.includes('"expiresAtMs":null')
      },
    }
  },
  'a revoked key': async () => {
    const sha256 = sha256OfSecretKey(tenant.liveKey)
    const keys = await listApiKeys(stack.database.control, tenant.providerId)
    const keyId = keys.find((key) => key.sha256 === sha256)?.keyId ?? ''
    return {
      kind: 'api-key',
      call: { command: ['key', 'revoke', keyId] },
      isPublished: async () =>
        (await stack.hotState.readDocument(apiKeyDocumentKey(sha256))) === undefined,
    }
  },
}

async function publishedKeys(): Promise<string[]> {
  const keys = await listApiKeys(stack.database.control, tenant.providerId)
  const documents = await Promise.all(
    keys.map((key) => stack.hotState.readDocument(apiKeyDocumentKey(key.sha256))),
  )
  return documents.filter((document) => document !== undefined)
}

const killPoints: [change: keyof typeof changes, moment: KillPoint['moment'], write: number][] = [
  ...Object.keys(changes).map((change): [string, 'before', number] => [change, 'before', 0]),
  // The process is killed between two writes of one change.
  ['a deleted product', 'before', 1],
  ['a new customer', 'before', 1],
  ['a rotated key', 'before', 1],
]

test.each(killPoints)(
  'publishes %s although its process was killed %s write %i',
  async (...killed) => {
    const [name, moment, write] = killed
    tenant = await stack.createTenant()
    const change = await changes[name]!()
    await killDuring(change, { moment, write })
    expect(await change.isPublished()).toBe(false)
    expect(await waitingKinds()).toContain(change.kind)

    await startAndStopSuccessor()
    expect(await change.isPublished()).toBe(true)
    expect(await waitingKinds()).toEqual(new Set())
  },
)

test.each(['an archived meter', 'a deleted product', 'an entitlement', 'a revoked key'])(
  'keeps %s published when its process dies before the response',
  async (name) => {
    tenant = await stack.createTenant()
    const change = await changes[name]!()
    await killDuring(change, { moment: 'after', write: 0 })
    expect(await waitingKinds()).toContain(change.kind)

    await startAndStopSuccessor()
    expect(await change.isPublished()).toBe(true)
    expect(await waitingKinds()).toEqual(new Set())
  },
)

function killDuring({ call }: Change, killPoint: KillPoint): Promise<void> {
  if ('command' in call) return killAtPoint(killPoint, call.command)
  const [method, path, body] = call
  return killAtPoint(killPoint, [], (port) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${tenant.sandboxKey}`,
        'content-type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  )
}
