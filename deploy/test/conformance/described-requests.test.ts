import { Ajv2020 } from 'ajv/dist/2020.js'
import { instants, storageMeter } from '@tollgate/schemas/http/examples/story'
import { afterAll, describe, expect, test } from 'vitest'
import { createManualClock } from '../manual-clock.ts'
import { startStack } from '../stack.ts'

/* Validates the examples of the published description against its schemas, and sends them to their operations. */

type MediaType = {
  readonly schema: object
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}
type Body = { readonly content?: Readonly<Record<string, MediaType>> }
type Operation = {
  readonly operationId: string
  readonly security: readonly object[]
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required?: boolean
    readonly example?: unknown
    readonly schema: { readonly examples?: readonly unknown[] }
  }[]
  readonly requestBody?: Body & { readonly required: boolean }
  readonly responses: Readonly<Record<string, Body>>
}
type Described = { readonly method: string; readonly path: string; readonly operation: Operation }
type Answer = { readonly status: number; readonly text: string }

// The examples are of one day. Some have times that must be ahead of it.
const stack = await startStack({ clock: createManualClock(instants.now) })
const { sandbox, keys } = await stack.createProvider()
const key = keys.sandbox
// The other objects of the examples need not exist, but an unknown meter would be an error in the body.
expect((await sandbox.send('POST', '/v1/ui/meters', { name: storageMeter.name })).status).toBe(201)
for (const meter of [
  { name: 'tokens' },
  { name: 'images', event: { type: 'image' }, dimensions: ['model'] },
]) {
  await sandbox.send('POST', '/v1/ui/meters', meter)
}
const description = (await sandbox.send('GET', '/v1/openapi.json')).body as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly responses: Readonly<Record<string, Body>> }
}
const operations: readonly Described[] = Object.entries(description.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
)
afterAll(() => stack.stop())

describe('the examples of the description', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  // Compiled once: the schemas that others refer to are most of the description.
  ajv.addSchema({ $id: 'tollgate:description', components: description.components })

  /** Returns the errors in the examples of a body. */
  function faultsOf(title: string, body: Body | undefined): string[] {
    const json = body?.content?.['application/json']
    if (json === undefined) return []
    const text = JSON.stringify(json.schema)
    const validate = ajv.compile(
      JSON.parse(text.replaceAll('"#/components/', '"tollgate:description#/components/')) as object,
    )
    return Object.entries(json.examples ?? {}).flatMap(([what, { value }]) =>
      validate(value) ? [] : [`${title}, ${what}: ${JSON.stringify(validate.errors)}`],
    )
  }

  test('conform to its schemas', () => {
    const faults = operations.flatMap(({ operation }) => [
      ...faultsOf(operation.operationId, operation.requestBody),
      ...Object.entries(operation.responses).flatMap(([status, response]) =>
        faultsOf(`${operation.operationId} ${status}`, response),
      ),
      ...(operation.parameters ?? []).flatMap(({ name, example, schema }) => {
        const value = example ?? schema.examples?.[0]
        const json = { schema, examples: { example: { value } } }
        return faultsOf(`${operation.operationId} ${name}`, {
          content: { 'application/json': json },
        })
      }),
    ])
    const refusals = Object.entries(description.components.responses)
    expect([...faults, ...refusals.flatMap(([name, body]) => faultsOf(name, body))]).toEqual([])
  })
})

/** Returns the URL of an operation with the parameters of its examples. */
function addressOf({ path, operation }: Described): string {
  const query = new URLSearchParams()
  let filled = path
  for (const { name, in: place, required, example } of operation.parameters ?? []) {
    if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(String(example)))
    if (place === 'query' && required === true) query.set(name, String(example))
  }
  return `${filled}?${query.toString()}`
}

async function ask(method: string, address: string, init: RequestInit): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, ...(init.headers as Record<string, string>) }
  const response = await fetch(`${stack.baseUrl}${address}`, { method, ...init, headers })
  const text = await response.text()
  return {
    status: response.status,
    text: text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<at>').replace(/"req_\w+"/, '"<request>"'),
  }
}

const json = { 'content-type': 'application/json' }

/** Adds unknown fields to the object and to all objects in its lists. */
function withUnknownFields(value: unknown): unknown {
  if (Array.isArray(value)) return (value as unknown[]).map(withUnknownFields)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(([name, field]): [string, unknown] => [
    name,
    Array.isArray(field) ? withUnknownFields(field) : field,
  ])
  return { ...Object.fromEntries(fields), unheardOf: { deep: [1, null, 'x'] }, planIdea: 'pln_1' }
}

/** Operations that refuse unknown fields, because a misspelled field would change nothing. */
const strictOperations: ReadonlySet<string> = new Set([
  'updateMerchant',
  'setTaxDetails',
  'decideTaxId',
  'updateEmailSettings',
])

test('accepts every example body, even with unknown fields', async () => {
  const refused: string[] = []
  for (const described of operations) {
    const { operationId, requestBody } = described.operation
    const isStrict = strictOperations.has(operationId)
    const content = requestBody?.content
    for (const [what, { value }] of Object.entries(content?.['application/json']?.examples ?? {})) {
      for (const sent of [value, withUnknownFields(value)]) {
        const body = JSON.stringify(sent)
        const answer = await ask(described.method, addressOf(described), { body, headers: json })
        const isRefused = answer.status >= 500 || answer.text.includes('Validation failed')
        const isWanted = isStrict && sent !== value
        if (isRefused !== isWanted) refused.push(`${operationId}, ${what}: ${answer.text}`)
      }
    }
  }
  expect(refused).toEqual([])
})

test('accepts an empty body with a JSON content type wherever no body is required', async () => {
  let requests = 0
  for (const described of operations) {
    const { operationId, requestBody } = described.operation
    // Each request to this operation opens another session, so it is left out.
    if (requestBody?.required === true || operationId === 'openCliSession') continue
    const address = addressOf(described)
    const plain = await ask(described.method, address, {})
    const empty = await ask(described.method, address, { headers: json })
    expect([operationId, empty]).toEqual([operationId, plain])
    expect([operationId, plain.status < 500]).toEqual([operationId, true])
    requests += 1
  }
  expect(requests).toBeGreaterThan(40)
})

test('cancels, reactivates, reads and deletes with an empty body with a JSON content type', async () => {
  const make = async (path: string, body: object): Promise<string> => {
    const sent = { body: JSON.stringify(body), headers: json }
    const made = JSON.parse((await ask('POST', path, sent)).text) as Record<string, string>
    return made['reference'] ?? made['purchaseRef'] ?? ''
  }
  const productRef = await make('/v1/sdk/products', { name: 'Empty bodies' })
  const planRef = await make(`/v1/sdk/products/${productRef}/plans`, { name: 'Free', price: 0 })
  const customerRef = await make('/v1/sdk/customers', { email: 'empty@acme.example' })
  const purchaseRef = await make('/v1/sdk/activate', { customerRef, productRef, planRef })
  const calls: readonly (readonly [method: string, path: string, part: string])[] = [
    ['GET', `/v1/sdk/purchases/${purchaseRef}`, '"status":"active"'],
    ['POST', `/v1/sdk/purchases/${purchaseRef}/cancel`, '"cancelledAt"'],
    ['POST', `/v1/sdk/purchases/${purchaseRef}/reactivate`, '"success":true'],
    ['POST', `/v1/sdk/products/${productRef}/clone`, '"name":"Empty bodies'],
    ['DELETE', `/v1/sdk/products/${productRef}/plans/${planRef}`, '"success":true'],
    ['DELETE', `/v1/sdk/products/${productRef}`, '"deleted"'],
  ]
  for (const [method, path, part] of calls) {
    const { status, text } = await ask(method, path, { headers: json })
    expect([method, path, status < 300, text]).toEqual([
      method,
      path,
      true,
      expect.stringContaining(part),
    ])
  }
})
