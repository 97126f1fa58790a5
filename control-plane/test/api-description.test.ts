import { compileErrors, validate } from '@readme/openapi-parser'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { Script } from 'node:vm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMetrics } from '@tollgate/platform/observability/metrics'
import { createClickHouseUsageStore } from '@tollgate/platform/usage-store/clickhouse/clickhouse-usage-store'
import { eventTypes } from '@tollgate/schemas/event-types'
import { errorCodes } from '@tollgate/schemas/http/error-codes'
import { describedOperations, describedTags } from '../src/http/described-operations.ts'
import { operationDescriptions } from '../src/http/operation-descriptions/operation-descriptions.ts'
import { buildTestApp, routesOf } from './built-app.ts'
import { codeSamples } from '../src/reference/code-samples.ts'
import { sectionsOf, type ApiDescription } from '../src/reference/description-document.ts'
import { startTestStack, type TestStack } from './test-stack.ts'

type Schema = {
  readonly $ref?: string
  readonly type?: string
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly required?: readonly string[]
  readonly properties?: Record<string, Schema>
  readonly anyOf?: readonly Schema[]
}
type Json = { readonly schema: Schema; readonly examples?: Readonly<Record<string, unknown>> }
type Content = { readonly content: { readonly 'application/json': Json } }
type Operation = {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly parameters?: readonly {
    readonly name: string
    readonly schema: Schema
    readonly example?: unknown
  }[]
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
  readonly webhooks: Record<string, Record<string, Operation>>
}

let stack: TestStack
let description: Description

beforeAll(async () => {
  stack = await startTestStack()
  // The description needs no key.
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

test('serves valid OpenAPI 3.1', async () => {
  expect(description.openapi).toBe('3.1.0')
  // Copy the document, because the validator resolves references in place.
  const document = structuredClone(description) as unknown as Parameters<typeof validate>[0]
  const outcome = await validate(document)
  expect(outcome.valid ? '' : compileErrors(outcome)).toBe('')
  expect(outcome.warnings).toEqual([])
})

test('describes the webhook body of every event type', () => {
  expect(Object.keys(description.webhooks).sort()).toEqual(eventTypes.toSorted())
  const { requestBody } = description.webhooks['purchase.plan_changed']!['post']!
  const { data } = requestBody!.content['application/json'].schema.properties!
  expect(data!.properties!['previous_attributes']!.properties).toHaveProperty('plan')
})

test('describes every route and nothing else', () => {
  const names = operations().map(([name]) => name)
  expect(names.sort()).toEqual(Object.keys(describedOperations).sort())
  const ids = Object.values(describedOperations).map(({ operationId }) => operationId)
  expect(new Set(ids).size).toBe(ids.length)
})

test('gives every operation an id, a summary and a tag', () => {
  const tags = new Set(describedTags.map(({ name }) => name))
  for (const [name, { summary, tags: [tag] = [] }] of operations()) {
    expect([name, summary]).toEqual([name, describedOperations[name]?.summary])
    expect([name, tags.has(tag ?? '')]).toEqual([name, true])
  }
})

test('describes every existing operation in whole sentences', () => {
  const ids = operations().map(([, { operationId }]) => operationId)
  expect(Object.keys(operationDescriptions).sort()).toEqual(ids.sort())
  for (const [name, { operationId, description: words }] of operations()) {
    expect([name, words]).toEqual([name, operationDescriptions[operationId]])
    expect([name, words]).toEqual([name, expect.stringMatching(/^[A-Z].{20,}\.$/)])
  }
})

test('lists exactly the refusals that an operation returns', () => {
  const refusalsOf = (name: string) => {
    const { responses } = new Map(operations()).get(name)!
    return Object.entries(responses).flatMap(([status, { $ref }]) =>
      $ref === undefined ? [] : [[status, $ref.split('/').at(-1)]],
    )
  }
  expect(refusalsOf('get /v1/ui/meters')).toEqual([
    ['401', 'Unauthorized'],
    ['403', 'Forbidden'],
    ['503', 'Unavailable'],
  ])
  expect(refusalsOf('post /v1/sdk/usages')).toEqual([
    ['400', 'BadRequest'],
    ['401', 'Unauthorized'],
    ['403', 'Forbidden'],
    ['413', 'BodyTooLarge'],
    ['415', 'UnsupportedMediaType'],
    ['503', 'Unavailable'],
  ])
  expect(refusalsOf('post /v1/ui/products/{productRef}/mcp/discover')).toEqual([
    ['400', 'BadMcpRequest'],
    ['401', 'Unauthorized'],
    ['403', 'Forbidden'],
    ['404', 'NotFound'],
    ['409', 'Conflict'],
    ['502', 'BadGateway'],
    ['503', 'Unavailable'],
  ])
  const { schemas, responses } = description.components
  expect(schemas['Error']?.required).toEqual([
    'statusCode',
    'error',
    'message',
    'code',
    'requestId',
  ])
  expect(schemas['ValidationError']?.required).toEqual([
    'statusCode',
    'error',
    'message',
    'errors',
    'timestamp',
    'path',
    'code',
    'requestId',
  ])
  expect(responses['BadRequest']?.content['application/json'].schema.anyOf).toEqual([
    { $ref: '#/components/schemas/ValidationError' },
    { $ref: '#/components/schemas/Error' },
  ])
})

test('has an example of every parameter, body, response and refusal', () => {
  const bare: string[] = []
  const look = (what: string, body: Partial<Content> | undefined): void => {
    const json = body?.content?.['application/json']
    if (json !== undefined && Object.keys(json.examples ?? {}).length === 0) bare.push(what)
  }
  for (const [name, { parameters = [], requestBody, responses }] of operations()) {
    for (const { name: parameter, schema, example } of parameters) {
      if ((example ?? schema.examples) === undefined) bare.push(`${name}: ${parameter}`)
    }
    look(`${name}: body`, requestBody)
    for (const [status, response] of Object.entries(responses)) look(`${name}: ${status}`, response)
  }
  for (const [name, response] of Object.entries(description.components.responses)) {
    look(name, response)
  }
  // The examples are in schemas/src/http/examples, beside the schemas that validate them.
  expect(bare).toEqual([])
})

test("omits only the routes between Tollgate's own services", async () => {
  const usageStore = createClickHouseUsageStore({
    url: 'http://127.0.0.1:9',
    username: 'default',
    password: '',
    requestTimeoutMs: 500,
  })
  const metrics = createMetrics('control-plane')
  const app = await buildTestApp(stack, { database: stack.database, usageStore, metrics })
  const missing = routesOf(app).filter((route) => {
    const [method = '', path = ''] = route.split(' ')
    const name = `${method.toLowerCase()} ${path.replace(/:(\w+)/g, '{$1}')}`
    // A route that is also served under a second path is described once.
    const names = [name, name.replace('/v1/ui/', '/v1/sdk/'), name.replace('/v1/ui/', '/v1/')]
    // All other routes are pages.
    return /^\/(v1|ui)\//.test(path) && !names.some((each) => each in describedOperations)
  })
  await Promise.all([app.close(), usageStore.close()])
  // The only undescribed twins are PUT routes, for clients that use PUT instead of PATCH.
  const put = missing.filter((route) => route.startsWith('PUT ')).sort()
  expect(put).toEqual([
    'PUT /v1/ui/webhook_endpoints/:endpointId',
    'PUT /v1/webhook_endpoints/:endpointId',
  ])
  expect(missing.filter((route) => !put.includes(route)).sort()).toEqual([
    ...['GET /v1/sdk/key', 'GET /v1/sdk/key/meters'],
    'POST /v1/sdk/auto-recharge/beginnings',
    'POST /v1/sdk/usage-corrections/backfills',
  ])
})

describe('the documentation', () => {
  const documentationPaths = (): readonly string[] =>
    sectionsOf(description as unknown as ApiDescription).map(
      ({ slug }) => `/docs/reference/${slug}`,
    )

  /** Returns every link, script, stylesheet and image of a page. */
  const linksOf = (html: string): readonly string[] =>
    [...html.matchAll(/(?:src|href|action)="([^"]+)"/g)].map(([, link]) =>
      link!.replaceAll('&amp;', '&'),
    )

  test('shows every operation, event and error code, with working links', async () => {
    const pages = new Map<string, string>()
    const links = new Set<string>()
    const left = ['/docs', '/docs/errors', ...documentationPaths()]
    for (const path of left) {
      const answer = await stack.fetch(path)
      expect([path, answer.status]).toEqual([path, 200])
      const html = await answer.text()
      pages.set(path, html)
      for (const link of linksOf(html)) {
        const address = new URL(link, new URL(path, stack.baseUrl))
        // The guide contains the address of the installation.
        if (link !== 'http://127.0.0.1:8787') expect(address.origin).toBe(stack.baseUrl)
        links.add(address.pathname + address.hash)
      }
    }
    for (const link of links) {
      const [path = '', anchor] = link.split('#')
      if (!pages.has(path) && path !== '/') {
        expect([path, (await stack.fetch(path)).status]).toEqual([path, 200])
      } else if (anchor !== undefined) {
        expect([link, pages.get(path)?.includes(`id="${anchor}"`)]).toEqual([link, true])
      }
    }
    const ids = [...pages.values()].flatMap((html) =>
      [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!),
    )
    const expected = [
      ...operations().map(([, { operationId }]) => operationId),
      ...eventTypes,
      ...Object.keys(errorCodes),
    ]
    expect(expected.filter((id) => !ids.includes(id))).toEqual([])
  })

  test('contains no inline script or style and loads nothing from other origins', async () => {
    const { headers } = await stack.fetch('/docs')
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'; style-src 'self'")
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
  })

  test('is compressed for clients that accept it, and its files are cached for a year', async () => {
    const plain = await stack.fetch('/docs', { headers: { 'accept-encoding': 'identity' } })
    expect(plain.headers.get('content-encoding')).toBeNull()
    const html = await plain.text()
    const [stylesheet] = linksOf(html).filter((link) => link.endsWith('/docs.css'))
    for (const path of ['/docs', stylesheet!]) {
      const answer = await stack.fetch(path, { headers: { 'accept-encoding': 'gzip' } })
      expect(answer.headers.get('content-encoding')).toBe('gzip')
      if (path === '/docs') expect(await answer.text()).toBe(html)
      else expect(answer.headers.get('cache-control')).toContain('max-age=31536000')
    }
  })

  test('finds operations, events and errors by words of their texts', async () => {
    const found = async (query: string): Promise<string> =>
      (await stack.fetch(`/docs/search?q=${encodeURIComponent(query)}`)).text()
    const refunds = await found('refund')
    expect(refunds).toContain('/docs/reference/webhook-events#')
    expect(await found('hold units')).toContain('/docs/reference/limits#checkLimit')
    expect(await found('validation_failed')).toContain('/docs/errors#validation_failed')
    expect(await found('<b>nothing has this</b>')).toContain('0 results')
    expect(await found('<b>x</b>')).not.toContain('<b>x')
    const { headers } = await stack.fetch('/docs/search?q=a')
    expect(headers.get('content-encoding')).toBeNull()
  })

  test('has working links in the guide', async () => {
    const html = await (await stack.fetch('/docs/')).text()
    const main = linksOf(html.split('<main')[1]!)
    expect(main).toEqual(expect.arrayContaining(['/docs/reference/limits', '/v1/openapi.json']))
    for (const link of main.filter((each) => each.startsWith('/'))) {
      expect([link, (await stack.fetch(link)).status]).toEqual([link, 200])
    }
  })

  test('responds to an unknown page with 404 and a link back', async () => {
    for (const path of ['/docs/nothing', '/docs/reference/nothing']) {
      const answer = await stack.fetch(path)
      expect([path, answer.status]).toEqual([path, 404])
      expect(await answer.text()).toContain('href="/docs"')
    }
  })

  const samplesIn = (language: string): readonly string[] =>
    sectionsOf(description as unknown as ApiDescription)
      .flatMap((section) => section.operations)
      .filter(({ method }) => method !== 'event')
      .map((placed) => codeSamples(placed, stack.baseUrl))
      .map((samples) => samples.find((sample) => sample.language === language)!.code)

  test('has a complete, valid sample of each operation in three languages', () => {
    const [curl, typescript, python] = ['curl', 'TypeScript', 'Python'].map(samplesIn)
    const count = operations().length
    expect([curl!.length, typescript!.length, python!.length]).toEqual([count, count, count])
    for (const code of [...curl!, ...typescript!, ...python!]) {
      expect(code).not.toMatch(/undefined|\{\w+\}'|\[object/)
    }
    expect(spawnSync('bash', ['-n'], { input: curl!.join('\n') }).stderr.toString()).toBe('')
    for (const code of typescript!) {
      const body = code.replace(/^import .*$/m, '')
      expect(() => new Script(`async () => {${body}}`)).not.toThrow()
    }
    const check = ['-c', 'import ast, sys; ast.parse(sys.stdin.read())']
    const checked = spawnSync('python3', check, { input: python!.join('\n') })
    // Without Python on this machine, the samples cannot be checked.
    if (checked.error === undefined) expect(checked.stderr.toString()).toBe('')
  })

  test('has a sample that works unchanged', async () => {
    const { sandboxKey } = await stack.createTenant()
    const code = samplesIn('curl').find((each) =>
      each.includes("POST '" + stack.baseUrl + "/v1/sdk/products'"),
    )
    const env = { ...process.env, SECRET_KEY: sandboxKey }
    const child = spawn('bash', ['-c', `${code} -sS`], { env })
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    await once(child, 'close')
    expect(JSON.parse(Buffer.concat(chunks).toString())).toMatchObject({
      reference: expect.stringMatching(/^prd_/) as string,
    })
  })
})

test('resolves every reference', () => {
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

test('marks bodies that may be missing as optional', () => {
  const optional = operations().filter(([, { requestBody }]) => requestBody?.required === false)
  expect(optional.map(([name]) => name)).toEqual([
    'delete /v1/ui/customers/{reference}',
    'post /v1/sdk/products/{productRef}/clone',
    ...['cancel', 'invoice-preview'].map((act) => `post /v1/sdk/purchases/{purchaseRef}/${act}`),
    'post /v1/ui/api-keys/{keyId}/rotate',
    'post /v1/webhook_endpoints/{endpointId}/rotate',
  ])
})

test('allows additional fields in requests and responses', () => {
  expect(JSON.stringify(description)).not.toContain('"additionalProperties":false')
})

test('describes page parameters as integers', () => {
  const { parameters } = description.paths['/v1/sdk/products']?.['get'] ?? {}
  const schemaOf = (name: string) => parameters?.find((each) => each.name === name)?.schema
  expect(schemaOf('limit')).toMatchObject({ type: 'integer', default: 50 })
  expect(schemaOf('offset')).toMatchObject({ type: 'integer', default: 0 })
})

test("describes the fields of a product's config", () => {
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
