import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { MeterBody } from '@tollgate/schemas/http/meters'
import type { ProductBody } from '@tollgate/schemas/http/products'
import { free, McpStack, pro } from './mcp-stack.ts'

let mcp: McpStack

beforeAll(async () => {
  mcp = await McpStack.start()
})

afterAll(() => mcp.stop())

beforeEach(() => mcp.renew())

test('creates a product with a free plan and the tools of the origin', async () => {
  const { status, body } = await mcp.bootstrap({ mcpDomain: 'Acme Tools!' })
  expect(status).toBe(201)
  const plan = body.product.plans![0]!
  expect(body.product).toMatchObject({
    name: '127-0-0-1',
    isMcpPay: true,
    plans: [{ name: 'Free', price: 0, freeUnits: 0, default: true, requiresPayment: false }],
    mcp: {
      mcpServerRef: expect.stringMatching(/^mcp_[A-Z0-9]{12}$/) as string,
      mcpSubdomain: 'acme-tools',
      mcpProxyUrl: 'https://acme-tools.mcp.tollgate.test/mcp',
      originUrl: mcp.origin.url,
      defaultPlanRef: plan.reference,
    },
  })
  expect(body.mcpServer).toEqual({
    reference: body.product.mcp!.mcpServerRef,
    subdomain: 'acme-tools',
    mcpProxyUrl: 'https://acme-tools.mcp.tollgate.test/mcp',
    url: mcp.origin.url,
    defaultPlanRef: plan.reference,
  })
  expect(body.planMap).toEqual({ free: { reference: plan.reference, name: 'Free' } })
  expect(body.toolsAutoMapped).toBe(true)
  expect(body.autoMappedTools).toEqual([
    { name: 'search', description: 'Finds things' },
    { name: 'fetch' },
  ])
  expect(await mcp.access(body.product.reference)).toEqual({
    search: 'every-plan',
    fetch: 'every-plan',
  })
  expect(await mcp.meters()).toEqual({ 'tool:search': 'active', 'tool:fetch': 'active' })
  expect(await mcp.publishedMeters()).toEqual(await mcp.meters())
  expect(await mcp.eventTypes()).toEqual(['product.created', 'plan.created'])
  expect(await mcp.product(body.product.reference)).toEqual(body.product)
  const list = await mcp.call<{ products: ProductBody[] }>('GET', '/v1/sdk/products')
  expect(list.body.products).toEqual([body.product])
})

test('counts calls on the meters of tools', async () => {
  await mcp.bootstrap()
  const { body } = await mcp.call<{ meters: MeterBody[] }>('GET', '/v1/ui/meters')
  expect(body.meters.find(({ name }) => name === 'tool:search')).toMatchObject({
    displayName: 'search',
    description: 'Finds things',
    aggregation: 'count',
    unit: 'call',
  })
})

test('creates the product although the origin does not respond', async () => {
  const { status, body } = await mcp.bootstrap({ originUrl: 'http://127.0.0.1:9/mcp' })
  expect(status).toBe(201)
  expect(body).toMatchObject({ toolsAutoMapped: false, autoMappedTools: [] })
  expect(body.discovery!.status).toBe('failed')
  expect(body.discovery!.message).toContain('cannot be reached')

  const again = await mcp.discover(body.product.reference)
  expect(again.status).toBe(502)
  const moved = await mcp.configure(body.product.reference, { originUrl: mcp.origin.url })
  expect(moved.body.mcpServer.url).toBe(mcp.origin.url)
  const found = await mcp.discover(body.product.reference)
  expect(found.body.added).toEqual(['search', 'fetch'])
  expect(await mcp.access(body.product.reference)).toEqual({
    search: 'every-plan',
    fetch: 'every-plan',
  })
})

test.each([
  ['http://mcp.example.com/mcp', 'originUrl must begin with https://'],
  ['https://localhost/mcp', 'originUrl is not a public address'],
  ['https://169.254.169.254/latest', 'originUrl is not a public address'],
  ['nonsense', 'originUrl is not a URL'],
])('refuses the origin %s', async (originUrl, message) => {
  const { status, body } = await mcp.bootstrap({ originUrl })
  expect([status, body]).toMatchObject([
    400,
    { statusCode: 400, code: 'INVALID_ORIGIN_URL', message },
  ])
})

test('reaches no origin without TLS in live', async () => {
  const path = '/v1/sdk/products/mcp/bootstrap'
  const { status, body } = await mcp.stack.call<{ code: string }>(
    mcp.tenant.liveKey,
    'POST',
    path,
    { originUrl: mcp.origin.url },
  )
  expect([status, body.code]).toEqual([400, 'INVALID_ORIGIN_URL'])
})

test('assigns a subdomain once, and keeps it with its product', async () => {
  const [first, second] = [
    await mcp.bootstrap({ name: 'Same' }),
    await mcp.bootstrap({ name: 'Same' }),
  ]
  const wanted = first.body.mcpServer.subdomain
  expect(second.body.mcpServer.subdomain).toMatch(new RegExp(`^${wanted}-[0-9a-f]{8}$`))
  await mcp.call('DELETE', `/v1/sdk/products/${first.body.product.reference}`)
  const third = await mcp.bootstrap({ name: 'Same' })
  expect(third.body.mcpServer.subdomain).not.toBe(wanted)
  const { reference } = second.body.product
  await mcp.call('PUT', `/v1/sdk/products/${reference}`, { name: 'Other' })
  expect((await mcp.product(reference)).mcp!.mcpSubdomain).toBe(second.body.mcpServer.subdomain)
})

test('adds, removes and restores tools with their meters', async () => {
  const { reference } = (await mcp.bootstrap({ name: 'Changing' })).body.product
  const other = (await mcp.bootstrap({ name: 'Other' })).body.product.reference
  mcp.origin.tools = [
    { name: 'search', description: 'Finds more' },
    { name: 'upgrade' },
    { name: 'new' },
  ]
  expect((await mcp.product(reference)).mcp).not.toHaveProperty('lastToolChange')
  const before = await mcp.eventTypes()
  const changed = await mcp.discover(reference)
  // The provider is informed by a webhook, in the list of events, and in the product.
  expect(await mcp.eventTypes()).toEqual([...before, 'product.updated'])
  const at = expect.stringMatching(/^\d{4}-.*Z$/) as string
  const lastToolChange = { at, added: ['new'], removed: ['fetch'] }
  expect((await mcp.product(reference)).mcp).toMatchObject({ lastToolChange })
  await mcp.discover(reference)
  expect(await mcp.eventTypes()).toEqual([...before, 'product.updated'])
  expect([changed.body.added, changed.body.removed]).toEqual([['new'], ['fetch']])
  const open = { access: 'every-plan', planRefs: [], onlyListedPlans: false }
  expect(changed.body.tools).toEqual([
    { name: 'search', description: 'Finds more', ...open },
    { name: 'new', ...open },
  ])
  // The other product still has the tool.
  expect(await mcp.meters()).toEqual({
    'tool:search': 'active',
    'tool:fetch': 'active',
    'tool:new': 'active',
  })
  await mcp.discover(other)
  expect((await mcp.meters())['tool:fetch']).toBe('archived')
  expect(await mcp.publishedMeters()).toEqual(await mcp.meters())

  const back = [{ name: 'fetch', planKeys: [] }]
  await mcp.configure(reference, { toolMapping: back })
  expect((await mcp.meters())['tool:fetch']).toBe('active')
  await mcp.call('DELETE', `/v1/sdk/products/${other}`)
  await mcp.call('DELETE', `/v1/sdk/products/${reference}`)
  expect(new Set(Object.values(await mcp.meters()))).toEqual(new Set(['archived']))
})

test('opens new tools only to the default plan after tools were mapped', async () => {
  const { reference } = (await mcp.bootstrap({ plans: [free, pro] })).body.product
  await mcp.configure(reference, { toolMapping: [{ name: 'search', planKeys: ['pro'] }] })
  mcp.origin.tools = [...mcp.origin.tools, { name: 'new' }]
  const { body } = await mcp.discover(reference)
  expect(body.tools.map(({ name, access }) => [name, access])).toEqual([
    ['search', 'plans'],
    ['fetch', 'every-plan'],
    ['new', 'plans'],
  ])
})

test('reads many tools page by page, and none if there are too many', async () => {
  mcp.origin.pageSize = 7
  mcp.origin.tools = Array.from({ length: 50 }, (_, index) => ({ name: `tool-${index}` }))
  const { body } = await mcp.bootstrap()
  expect(body.autoMappedTools).toEqual(mcp.origin.tools)
  mcp.origin.pageSize = 100
  mcp.origin.tools = Array.from({ length: 501 }, (_, index) => ({ name: `tool-${index}` }))
  const answer = await mcp.discover(body.product.reference)
  expect([answer.status, answer.body.message]).toEqual([502, expect.stringContaining('501 tools')])
  expect(Object.keys(await mcp.access(body.product.reference))).toHaveLength(50)
})

test('sends credentials to the origin, and never shows them in responses', async () => {
  const secret = 'k-3f9a-very-secret'
  mcp.origin.auth = { header: 'X-Api-Key', value: secret }
  const given = { authHeaderName: 'X-Api-Key', authApiKey: secret }
  const made = await mcp.bootstrap({ ...given, name: 'Guarded' })
  expect(made.body.toolsAutoMapped).toBe(true)
  const { reference } = made.body.product
  const copy = await mcp.call<ProductBody>('POST', `/v1/sdk/products/${reference}/clone`, {})
  expect(copy.status).toBe(201)
  expect((await mcp.discover(copy.body.reference)).status).toBe(200)

  const sealed = await mcp.stack.database.in('sandbox')<{ auth_key: string }[]>`
    select auth_key from mcp_servers where product_ref = ${reference}`
  expect(sealed[0]!.auth_key).toMatch(/^v1\.k[0-9a-f]{8}\./)
  mcp.origin.auth = { header: 'Authorization', value: 'Bearer another' }
  const refused = await mcp.discover(reference)
  expect(refused.body.message).toBe(
    'The origin did not tell its tools. It wants other credentials (401)',
  )
  const changed = await mcp.configure(reference, { authApiKey: 'another' })
  expect((await mcp.discover(reference)).status).toBe(200)
  for (const { body } of [made, copy, refused, changed]) {
    expect(JSON.stringify(body)).not.toContain(secret)
  }
  const rows = await mcp.stack.database.in('sandbox')<{ row: string }[]>`
    select server::text as row from mcp_servers server
    union all select event::text from outbox event union all select product::text from products product`
  expect(rows.map(({ row }) => row).join()).not.toContain(secret)

  mcp.origin.auth = undefined
  await mcp.configure(reference, { authApiKey: null })
  await mcp.discover(reference)
  expect(mcp.origin.seen.at(-1)).not.toHaveProperty('authorization')
})

test('keeps credentials with the server for which they were stored', async () => {
  mcp.origin.auth = { header: 'Authorization', value: 'Bearer k-first' }
  const made = await mcp.bootstrap({ authApiKey: 'k-first' })
  const { reference } = made.body.product
  const copy = await mcp.call<ProductBody>('POST', `/v1/sdk/products/${reference}/clone`, {})
  const { port, origin } = new URL(mcp.origin.url)
  await mcp.configure(reference, { originUrl: `${origin}/elsewhere` })
  expect(await readStoredHeaderNames(reference)).toEqual(['Authorization'])

  for (const productRef of [reference, copy.body.reference]) {
    const otherPort = `http://127.0.0.1:${Number(port) === 65_535 ? 1 : Number(port) + 1}/mcp`
    expect((await mcp.configure(productRef, { originUrl: otherPort })).status).toBe(200)
    expect(await readStoredHeaderNames(productRef)).toEqual([null])
    // The credentials were deleted, so they are not sent to the first origin either.
    await mcp.configure(productRef, { originUrl: mcp.origin.url })
    expect((await mcp.discover(productRef)).status).toBe(502)
    expect(mcp.origin.seen.at(-1)).not.toHaveProperty('authorization')
  }
  const both = { originUrl: `${origin.replace('http:', 'https:')}/mcp`, authApiKey: 'k-second' }
  await mcp.configure(reference, both)
  expect(await readStoredHeaderNames(reference)).toEqual(['Authorization'])
})

async function readStoredHeaderNames(productRef: string): Promise<(string | null)[]> {
  const rows = await mcp.stack.database.in('sandbox')<{ auth_header: string | null }[]>`
    select auth_header from mcp_servers where product_ref = ${productRef}`
  return rows.map(({ auth_header: header }) => header)
}

test('gives another provider another subdomain', async () => {
  const first = await mcp.bootstrap({ mcpDomain: 'shared' })
  await mcp.renew()
  const second = await mcp.bootstrap({ mcpDomain: 'shared' })
  expect(first.body.mcpServer.subdomain).toBe('shared')
  expect(second.body.mcpServer.subdomain).toMatch(/^shared-[0-9a-f]{8}$/)
})

test('hides the server from another provider', async () => {
  const { reference } = (await mcp.bootstrap()).body.product
  await mcp.renew()
  expect((await mcp.configure(reference, {})).status).toBe(404)
  expect((await mcp.discover(reference)).status).toBe(404)
})
