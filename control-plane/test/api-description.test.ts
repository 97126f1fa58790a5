import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestStack, type TestStack } from './test-stack.ts'

type Schema = {
  readonly $ref?: string
  readonly type?: string
  readonly default?: unknown
  readonly required?: readonly string[]
  readonly properties?: Record<string, Schema>
  readonly anyOf?: readonly Schema[]
}
type Content = { readonly content: { readonly 'application/json': { readonly schema: Schema } } }
type Operation = {
  readonly parameters?: readonly { readonly name: string; readonly schema: Schema }[]
  readonly requestBody?: Content & { readonly required: boolean }
  readonly responses: Record<string, Partial<Content> & { readonly $ref?: string }>
}
type Description = {
  readonly openapi: string
  readonly components: {
    readonly schemas: Record<string, Schema>
    readonly responses: Record<string, Content>
  }
  readonly paths: Record<string, Record<string, Operation>>
}

let stack: TestStack
let description: Description

beforeAll(async () => {
  stack = await startTestStack()
  // Needs no key.
  const answer = await stack.call<Description>(undefined, 'GET', '/v1/openapi.json')
  expect(answer.status).toBe(200)
  description = answer.body
})
afterAll(() => stack.stop())

function operations(): [string, Operation][] {
  return Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method} ${path}`,
      operation,
    ]),
  )
}

test('lists every route', () => {
  expect(description.openapi).toBe('3.1.0')
  expect(Object.keys(description.paths).sort()).toEqual([
    '/ui/meters/{meterRef}/usage',
    '/v1/sdk/activate',
    '/v1/sdk/auto-recharge',
    '/v1/sdk/checkout-sessions',
    '/v1/sdk/customers',
    '/v1/sdk/customers/customer-sessions',
    '/v1/sdk/customers/customer-sessions/{sessionId}',
    '/v1/sdk/customers/{reference}',
    '/v1/sdk/limits',
    '/v1/sdk/limits/release',
    '/v1/sdk/merchant',
    '/v1/sdk/meter-events',
    '/v1/sdk/meter-events/bulk',
    '/v1/sdk/payment-method',
    '/v1/sdk/platform-config',
    '/v1/sdk/products',
    '/v1/sdk/products/{productRef}',
    '/v1/sdk/products/{productRef}/clone',
    '/v1/sdk/products/{productRef}/plans',
    '/v1/sdk/products/{productRef}/plans/{planRef}',
    '/v1/sdk/purchases',
    '/v1/sdk/purchases/customer/{customerRef}',
    '/v1/sdk/purchases/product/{productRef}',
    '/v1/sdk/purchases/{purchaseRef}',
    '/v1/sdk/purchases/{purchaseRef}/cancel',
    '/v1/sdk/purchases/{purchaseRef}/reactivate',
    '/v1/sdk/usages',
    '/v1/sdk/usages/bulk',
    '/v1/sdk/user-info',
    '/v1/ui/api-keys',
    '/v1/ui/api-keys/{keyId}',
    '/v1/ui/api-keys/{keyId}/rotate',
    '/v1/ui/exchange-rates',
    '/v1/ui/exchange-rates/{currency}',
    '/v1/ui/merchant',
    '/v1/ui/merchant/{kind}',
    '/v1/ui/meters',
    '/v1/ui/meters/{meterRef}',
    '/v1/ui/meters/{meterRef}/usage',
  ])
  expect(Object.keys(description.paths['/v1/sdk/products'] ?? {}).sort()).toEqual(['get', 'post'])
})

test("shows the refusals of every operation, the data plane's included", () => {
  for (const [name, { responses }] of operations()) {
    const { 400: badRequest, 401: unauthorized, default: others } = responses
    expect([name, badRequest, unauthorized, others]).toEqual([
      name,
      { $ref: '#/components/responses/BadRequest' },
      { $ref: '#/components/responses/Unauthorized' },
      { $ref: '#/components/responses/Refused' },
    ])
  }
  const { schemas, responses } = description.components
  expect(schemas['Error']?.required).toEqual(['statusCode', 'error', 'message'])
  expect(schemas['ValidationError']?.required).toEqual([
    'statusCode',
    'error',
    'message',
    'errors',
    'timestamp',
    'path',
  ])
  expect(responses['BadRequest']?.content['application/json'].schema.anyOf).toEqual([
    { $ref: '#/components/schemas/ValidationError' },
    { $ref: '#/components/schemas/Error' },
  ])
})

test('every reference leads somewhere', () => {
  const references = JSON.stringify(description).match(/(?<="\$ref":")[^"]+/g) ?? []
  expect(references.length).toBeGreaterThan(0)
  for (const reference of new Set(references)) {
    const [, ...keys] = reference.split('/')
    const target = keys.reduce<unknown>(
      (node, key) => (node as Record<string, unknown> | undefined)?.[key],
      description,
    )
    expect([reference, typeof target]).toEqual([reference, 'object'])
  }
})

test('says which bodies may be missing', () => {
  const optional = operations().filter(([, { requestBody }]) => requestBody?.required === false)
  expect(optional.map(([name]) => name)).toEqual([
    'post /v1/sdk/products/{productRef}/clone',
    'post /v1/sdk/purchases/{purchaseRef}/cancel',
    'post /v1/ui/api-keys/{keyId}/rotate',
  ])
})

test('forbids no field: answers may gain some, and requests may have more than we know', () => {
  expect(JSON.stringify(description)).not.toContain('"additionalProperties":false')
})

test('shows pages as the whole numbers that they are', () => {
  const { parameters } = description.paths['/v1/sdk/products']?.['get'] ?? {}
  const schemaOf = (name: string) => parameters?.find((each) => each.name === name)?.schema
  expect(schemaOf('limit')).toMatchObject({ type: 'integer', default: 50 })
  expect(schemaOf('offset')).toMatchObject({ type: 'integer', default: 0 })
})

test('shows what a config means', () => {
  const body = description.paths['/v1/sdk/products']?.['post']?.requestBody
  const config = body?.content['application/json'].schema.properties?.['config']
  expect(config).toMatchObject({
    type: 'object',
    properties: {
      deliveryMethod: { type: 'string' },
      fulfillmentType: { type: 'string' },
      validityPeriod: { type: 'number' },
    },
  })
})
