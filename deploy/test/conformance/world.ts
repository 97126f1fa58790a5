import type { HttpResponse } from '../../src/client/http-client.ts'
import type { TollgateClient } from '../../src/client/tollgate-client.ts'
import { startStack, type Stack } from '../stack.ts'

/** A running service with a provider and the objects that rows name in braces. */
export type World = {
  readonly stack: Stack
  readonly client: TollgateClient
  /** The API key of the client. */
  readonly key: string
  /** Calls a row such as `GET /v1/sdk/products/{productRef}`. Names in braces are replaced, in the body too. */
  call(row: string, body?: unknown): Promise<HttpResponse>
  /** Returns the expected value with names in braces replaced. */
  filled(expected: unknown): unknown
}

export async function startWorld(): Promise<World> {
  const stack = await startStack()
  const { sandbox: client, keys } = await stack.createProvider()
  const refs = new Map<string, string>()
  const fill = (text: string) =>
    text.replace(/\{(\w+)\}/g, (braces, name: string) => refs.get(name) ?? braces)
  const call = (row: string, body?: unknown): Promise<HttpResponse> => {
    const [method = '', path = ''] = fill(row).split(' ')
    const filled: unknown = body === undefined ? undefined : JSON.parse(fill(JSON.stringify(body)))
    return client.send(method, path, filled)
  }
  const make = async (name: string, row: string, body: unknown): Promise<void> => {
    const { reference } = (await call(row, body)).body as { reference: string }
    refs.set(name, reference)
  }
  const plans = 'POST /v1/sdk/products/{productRef}/plans'
  await make('productRef', 'POST /v1/sdk/products', { name: 'Search' })
  await make('otherProductRef', 'POST /v1/sdk/products', { name: 'Maps' })
  await make('freePlanRef', plans, { name: 'Free', price: 0, limit: 100, default: true })
  await make('paidPlanRef', plans, { name: 'Pro', price: 4900, limit: 1000 })
  await make('creditPlanRef', plans, {
    name: 'Credits',
    type: 'usage-based',
    billingModel: 'pre-paid',
    creditsPerUnit: 100,
  })
  await make('customerRef', 'POST /v1/sdk/customers', {
    email: 'ada@acme.example',
    name: 'Ada',
    externalRef: 'user_ada',
  })
  await make('creditCustomerRef', 'POST /v1/sdk/customers', { email: 'bob@acme.example' })
  await call('POST /v1/sdk/limits', { customerRef: '{customerRef}', productRef: '{productRef}' })
  const activated = await call('POST /v1/sdk/activate', {
    customerRef: '{creditCustomerRef}',
    productRef: '{productRef}',
    planRef: '{creditPlanRef}',
  })
  refs.set('purchaseRef', (activated.body as { purchaseRef: string }).purchaseRef)
  const held = await call('GET /v1/sdk/purchases/customer/{customerRef}')
  const [free] = (held.body as { purchases: { reference: string }[] }).purchases
  refs.set('freePurchaseRef', free?.reference ?? '')
  refs.set('meterRef', await client.requestsMeter())
  const session = await call('POST /v1/sdk/customers/customer-sessions', {
    customerRef: '{customerRef}',
  })
  refs.set('sessionId', (session.body as { sessionId: string }).sessionId)
  const issue = async (name: string, fields: object): Promise<void> => {
    const { body } = await call('POST /v1/ui/api-keys', fields)
    const { keyId, secretKey } = body as { keyId: string; secretKey: string }
    refs.set(`${name}Id`, keyId)
    refs.set(name, secretKey)
  }
  await issue('readKey', { scopes: ['read'] })
  await issue('strictKey', { strict: true })
  return { stack, client, key: keys.sandbox, call, filled: (expected) => fillIn(expected, fill) }
}

/** Replaces names in plain objects and lists only, so that matchers are not changed. */
function fillIn(expected: unknown, fill: (text: string) => string): unknown {
  if (typeof expected === 'string') return fill(expected)
  if (Array.isArray(expected)) return expected.map((item) => fillIn(item, fill))
  if (!isPlain(expected)) return expected
  return Object.fromEntries(
    Object.entries(expected).map(([key, item]) => [key, fillIn(item, fill)]),
  )
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  )
}
