import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { Client as SdkClient } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport as SdkInMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import type { JsonObject } from '@tollgate/schemas/json-object'
import { describe, expect, test } from 'vitest'
import type { ServedServer, ServedTool } from '../servers/served-server.ts'
import { adaptTools } from './adapt-tools.ts'
import { gateOf } from './paywall.ts'

const access = (kind: ServedTool['access']): ServedTool => ({ access: kind, planRefs: [] })

const server: ServedServer = {
  ...{ environment: 'sandbox', providerId: 'prv_1', productRef: 'prd_1', reference: 'mcp_1' },
  ...{ subdomain: 'test', proxyUrl: 'https://a.test/mcp', issuer: 'https://a.test' },
  ...{ originUrl: 'https://origin.test', originHeaders: {}, defaultPlanRef: undefined },
  ...{ productName: 'Test', plans: [] },
  tools: new Map([
    ['open', access('public')],
    ['paid', access('every-plan')],
  ]),
}

const adapt = (tools: JsonObject[], isLastPage = true, onCollision = (_: string) => {}) =>
  adaptTools(server, { showsApps: false }, tools, isLastPage, onCollision)

/** Schemas of a tree. Their references to the root and to a definition must still resolve to the same schemas after widening. */
const schemas: Readonly<Record<string, JsonObject>> = {
  plain: {
    type: 'object',
    properties: { value: { type: 'number' } },
    required: ['value'],
    additionalProperties: false,
  },
  'with definitions': {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { value: { $ref: '#/definitions/amount' }, next: { $ref: '#' } },
    required: ['value'],
    definitions: { amount: { type: 'number' } },
  },
  'with paths into itself': {
    type: 'object',
    properties: {
      value: { type: 'number' },
      next: { type: 'object', properties: { value: { $ref: '#/properties/value' } } },
      $ref: { type: 'string', const: '#' },
    },
    required: ['value'],
    $defs: { unused: { enum: [{ $ref: '#/$defs/unused' }] } },
  },
}

const answer = { withinLimits: false, remaining: 0, plan: '' }
const paywall = { kind: 'payment_required', recovery: 'upgrade', fact: 'Pay' } as const
const gate = gateOf(paywall, 'https://hosted.test/customer/connect/1', 'prd_1', answer)

type Caller = { call(): Promise<unknown>; close(): Promise<void> }

type Pipe = {
  onmessage?: (message: never) => void
  send(message: never): Promise<void>
  start(): Promise<void>
}

/** Starts a server that lists the given tools and returns the given structured content for every call. */
async function serve(pipe: Pipe, tools: JsonObject[], structuredContent: JsonObject) {
  const results: Record<string, JsonObject> = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'origin', version: '1' },
    },
    'tools/list': { tools },
    'tools/call': { content: [{ type: 'text', text: 'x' }], structuredContent, isError: false },
  }
  pipe.onmessage = ({ id, method }: { id?: number; method: string }) => {
    if (id === undefined) return
    void pipe.send({ jsonrpc: '2.0', id, result: results[method] } as never)
  }
  await pipe.start()
}

const clients: Readonly<
  Record<string, (tools: JsonObject[], content: JsonObject) => Promise<Caller>>
> = {
  'sdk 1.32.2': async (tools, content) => {
    const [near, far] = SdkInMemoryTransport.createLinkedPair()
    await serve(far, tools, content)
    const client = new SdkClient({ name: 'test', version: '1' })
    await client.connect(near)
    await client.listTools()
    return { call: () => client.callTool({ name: 'paid' }), close: () => client.close() }
  },
  'client 2.4.0': async (tools, content) => {
    const [near, far] = InMemoryTransport.createLinkedPair()
    await serve(far, tools, content)
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(near)
    await client.listTools()
    return { call: () => client.callTool({ name: 'paid' }), close: () => client.close() }
  },
}

describe.each(Object.entries(clients))(
  '%s, with a gated tool whose output schema is',
  (_, open) => {
    const accepts = async (outputSchema: JsonObject, content: JsonObject): Promise<boolean> => {
      const tools = adapt([{ name: 'paid', inputSchema: { type: 'object' }, outputSchema }])
      const caller = await open(tools, content)
      const isAccepted = await caller.call().then(
        () => true,
        () => false,
      )
      await caller.close()
      return isAccepted
    }

    test.each(Object.entries(schemas))(
      '%s, accepts a paywall and the results of the tool, and nothing else',
      async (_name, schema) => {
        expect(await accepts(schema, gate)).toBe(true)
        expect(await accepts(schema, { value: 1 })).toBe(true)
        expect(await accepts(schema, { value: 'one' })).toBe(false)
        expect(await accepts(schema, { ...gate, kind: 'else' })).toBe(false)
      },
    )

    test.each(Object.keys(schemas).slice(1))('%s, resolves its references', async (name) => {
      expect(await accepts(schemas[name]!, { value: 1, next: { value: 2 } })).toBe(true)
      expect(await accepts(schemas[name]!, { value: 1, next: { value: 'two' } })).toBe(false)
    })
  },
)

test("appends the proxy's tools to the last page, in a fixed order", () => {
  const tool = { name: 'other', inputSchema: { type: 'object' } }
  expect(adapt([tool], false)).toEqual([tool])
  const names = adapt([tool]).map(({ name }) => name)
  expect(names).toEqual(['other', 'get_user_info', 'upgrade', 'manage_account'])
})

test("leaves out and reports an origin's tool that has the name of a proxy tool", () => {
  const collisions: string[] = []
  const own = ['upgrade', 'manage_purchase', 'other'].map((name) => ({ name, mine: true }))
  const adapted = adapt(own, true, (name) => collisions.push(name))
  expect(adapted.filter(({ mine }) => mine).map(({ name }) => name)).toEqual(['other'])
  expect(collisions).toEqual(['upgrade', 'manage_purchase'])
})

test("keeps the view of an origin's tool, and never adds the proxy's view to it", () => {
  const bound = (resourceUri: string) => ({
    name: 'open',
    _meta: { ui: { resourceUri, visibility: ['model'] }, 'ui/resourceUri': resourceUri, kept: 1 },
  })
  const own = bound('ui://origin/view')
  expect(adapt([own])[0]).toBe(own)
  for (const uri of ['ui://tollgate/account', 'UI://Tollgate/x', 'ui://tollgate']) {
    expect(adapt([bound(uri)])[0]).toEqual({ name: 'open', _meta: { kept: 1 } })
  }
})

test('leaves all other members of a tool unchanged', () => {
  const tool = {
    name: 'paid',
    inputSchema: { type: 'object', 'x-mcp-header': { a: null } },
    annotations: null,
    _meta: { 'example.com/a': [1, { b: null }] },
    unknown: { $ref: '#' },
  }
  const outputSchema = schemas['plain']!
  expect(adapt([{ ...tool, outputSchema }])[0]).toMatchObject(tool)
  expect(adapt([tool])[0]).toBe(tool)
  const open = { ...tool, name: 'open', outputSchema }
  expect(adapt([open])[0]).toBe(open)
})
