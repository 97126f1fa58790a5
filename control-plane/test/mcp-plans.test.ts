import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { PlanBody } from '@tollgate/schemas/http/plans'
import type { ProductBody } from '@tollgate/schemas/http/products'
import { free, McpStack, payg, pro } from './mcp-stack.ts'

let mcp: McpStack

beforeAll(async () => {
  mcp = await McpStack.start()
})

afterAll(() => mcp.stop())

beforeEach(() => mcp.renew())

test('stores declared plans and tools, and sends the origin no request', async () => {
  const requestCount = mcp.origin.seen.length
  const { body } = await mcp.bootstrap({
    name: 'Acme',
    plans: [pro, free, payg],
    tools: [
      { name: 'ping', noPlan: true },
      { name: 'search', description: 'Finds', planKeys: ['pro', 'free'] },
      { name: 'fetch', planKeys: [] },
    ],
  })
  expect(mcp.origin.seen.length).toBe(requestCount)
  expect(body.product.plans!.map(({ name, type }) => [name, type])).toEqual([
    ['Pro', 'recurring'],
    ['Free', 'recurring'],
    ['Pay as you go', 'usage-based'],
  ])
  expect(Object.keys(body.planMap).sort()).toEqual(['free', 'payg', 'pro'])
  expect(body.mcpServer.defaultPlanRef).toBe(body.planMap['free']!.reference)
  expect([body.toolsAutoMapped, body.autoMappedTools]).toEqual([false, undefined])
  const refs = ['pro', 'free'].map((name) => body.planMap[name]!.reference)
  expect(await mcp.access(body.product.reference)).toEqual({
    ping: 'public',
    search: refs,
    fetch: [],
  })
  expect(Object.keys(await mcp.meters()).sort()).toEqual(['tool:fetch', 'tool:ping', 'tool:search'])
})

test.each([
  [{ tools: [{ name: 'a', planKeys: ['gold'] }] }, 'UNKNOWN_PLAN_KEY'],
  [{ tools: [{ name: 'a', planRefs: ['pln_A'] }] }, 'UNKNOWN_PLAN_REFERENCE'],
  [{ tools: [{ name: 'a', planIds: ['pln_A'] }] }, 'UNKNOWN_PLAN_REFERENCE'],
  [{ tools: [{ name: 'a' }, { name: 'a' }] }, 'DUPLICATE_TOOL_NAME'],
  [{ plans: [pro, pro] }, 'DUPLICATE_PLAN_KEY'],
  [{ plans: [pro], defaultPlanKey: 'pro' }, 'PLAN_NOT_ALLOWED_AS_DEFAULT'],
  [{ plans: [{ ...pro, currency: 'EUR' }] }, 'PLAN_CURRENCY_NOT_PROVIDER_DEFAULT'],
])('refuses %j and stores nothing', async (body, code) => {
  const answer = await mcp.bootstrap(body)
  expect([answer.status, answer.body.code]).toEqual([400, code])
  expect(Object.keys(answer.body).sort()).toEqual(['code', 'message', 'requestId', 'statusCode'])
  expect(await mcp.eventTypes()).toEqual([])
  const list = await mcp.call<{ total: number }>('GET', '/v1/sdk/products')
  expect(list.body.total).toBe(0)
})

test('configures only MCP products with a server', async () => {
  const create = async (isMcpPay: boolean) => {
    const product = { name: 'API', isMcpPay }
    return (await mcp.call<ProductBody>('POST', '/v1/sdk/products', product)).body.reference
  }
  const [plain, bare] = [await create(false), await create(true)]
  expect((await mcp.configure(plain, {})).body.code).toBe('NOT_MCP_PRODUCT')
  expect((await mcp.configure(bare, {})).body.code).toBe('NO_MCP_SERVER')
  expect((await mcp.discover(plain)).body.code).toBe('NOT_MCP_PRODUCT')
  expect((await mcp.discover(bare)).body.code).toBe('NO_MCP_SERVER')
  expect((await mcp.configure('prd_NONE', {})).status).toBe(404)
  expect((await mcp.discover('prd_NONE')).status).toBe(404)
})

test('keeps the reference of a plan that is named again, and the free plan without being named', async () => {
  const made = (await mcp.bootstrap({ plans: [free, pro] })).body
  const { reference } = made.product
  const { body } = await mcp.configure(reference, { plans: [{ ...pro, price: 1200 }] })
  expect(body.planMap['free']).toEqual(made.planMap['free'])
  expect(body.planMap['pro']!.reference).toBe(made.planMap['pro']!.reference)
  expect(body.product.plans!.map(({ price }) => price)).toEqual([0, 1200])
  expect(await mcp.eventTypes()).toEqual([
    ...['product.created', 'plan.created', 'plan.created'],
    ...['plan.updated', 'product.updated'],
  ])
  const tool = { name: 'search', planKeys: ['free', 'pro'] }
  const mapped = await mcp.configure(reference, { toolMapping: [tool] })
  expect(mapped.status).toBe(200)
  const refs = ['free', 'pro'].map((name) => made.planMap[name]!.reference)
  expect((await mcp.access(reference))['search']).toEqual(refs)
})

test('changes nothing and emits no event for the same configuration', async () => {
  const { reference } = (await mcp.bootstrap({ plans: [free, pro] })).body.product
  const configuration = {
    plans: [free, pro],
    toolMapping: [{ name: 'search', planKeys: ['free', 'pro'] }],
  }
  const once = await mcp.configure(reference, configuration)
  const types = await mcp.eventTypes()
  expect(types.at(-1)).toBe('product.updated')
  expect((await mcp.configure(reference, configuration)).body).toEqual(once.body)
  expect(await mcp.eventTypes()).toEqual(types)
  const mapped = { toolMapping: [{ name: 'search', planKeys: ['pro'] }] }
  expect((await mcp.configure(reference, mapped)).status).toBe(200)
  expect(await mcp.eventTypes()).toEqual([...types, 'product.updated'])
})

test('removes what a configuration no longer contains', async () => {
  const limited = { ...free, limit: 100 }
  const { reference, plans } = (await mcp.bootstrap({ plans: [limited] })).body.product
  const path = `/v1/sdk/products/${reference}/plans/${plans![0]!.reference}`
  await mcp.call('PUT', path, { trialDays: 7 })
  const { body } = await mcp.configure(reference, { plans: [free] })
  const [plan] = body.product.plans as [PlanBody]
  expect([plan.limit, plan.trialDays, plan.default]).toEqual([undefined, 7, true])
})

test('removes all paid plans for a free plan only, and archives those with purchases', async () => {
  const made = (
    await mcp.bootstrap({
      plans: [free, pro, payg],
      tools: [{ name: 'search', planKeys: ['pro', 'payg'] }],
    })
  ).body
  const { reference } = made.product
  const [proRef, paygRef] = ['pro', 'payg'].map((name) => made.planMap[name]!.reference) as [
    string,
    string,
  ]
  await mcp.buy(reference, paygRef)
  const { body } = await mcp.configure(reference, { plans: [free] })
  expect(body.planMap).toEqual({ free: made.planMap['free'] })
  expect(body.product.plans!.map(({ reference, status }) => [reference, status])).toEqual([
    [made.planMap['free']!.reference, 'active'],
    [paygRef, 'archived'],
  ])
  // The customer with the plan keeps the tool. No customer can hold the other plan any longer.
  expect((await mcp.access(reference))['search']).toEqual([paygRef])
  expect(proRef).not.toBe(paygRef)
  const retaken = await mcp.configure(reference, { plans: [payg] })
  expect(retaken.body.planMap['payg']!.reference).not.toBe(paygRef)
  expect(retaken.body.planMap['free']).toEqual(made.planMap['free'])
})

test('warns about tools that the default plan opens, until they are reserved for the listed plans', async () => {
  const tools = [
    { name: 'report', planKeys: ['pro'], cancelledCalls: 'accepted' },
    { name: 'search', planKeys: ['free', 'pro'] },
  ]
  const made = await mcp.bootstrap({ plans: [free, pro], tools })
  const { reference } = made.body.product
  const planRefs = [made.body.planMap['pro']!.reference]
  const report = { name: 'report', access: 'plans', planRefs, cancelledCalls: 'accepted' }
  const message = expect.stringContaining('also open to the default plan Free') as string
  expect(made.body.warnings).toEqual([{ code: 'default_plan_opens_tool', tool: 'report', message }])
  expect(made.headers.get('tollgate-warnings')).toBe('default_plan_opens_tool;name="report"')
  expect(made.body.tools[0]).toEqual({ ...report, onlyListedPlans: false })
  const mapping = { name: 'report', planKeys: ['pro'] }
  const reserved = await mcp.configure(reference, {
    toolMapping: [{ ...mapping, onlyListedPlans: true }],
    unknown: 1,
  })
  expect(reserved.body).not.toHaveProperty('warnings')
  expect(reserved.headers.get('tollgate-warnings')).toBe('unknown_field;name="unknown"')
  expect(reserved.body.tools[0]).toEqual({ ...report, onlyListedPlans: true })
  // A mapping without the field leaves the tool restricted.
  const again = await mcp.configure(reference, { toolMapping: [mapping] })
  expect(again.body.tools[0]).toEqual({ ...report, onlyListedPlans: true })
  const opened = { ...mapping, onlyListedPlans: false, cancelledCalls: null }
  const { body, headers } = await mcp.configure(reference, { toolMapping: [opened], unknown: 1 })
  expect(body.tools[0]).toEqual({
    name: 'report',
    access: 'plans',
    planRefs,
    onlyListedPlans: false,
  })
  expect(body.warnings).toHaveLength(1)
  expect(headers.get('tollgate-warnings')).toBe(
    'unknown_field;name="unknown", default_plan_opens_tool;name="report"',
  )
})

test.each([
  [{ planKeys: [], onlyListedPlans: true }, 'onlyListedPlans'],
  [{ planKeys: ['pro'], noPlan: true, onlyListedPlans: true }, 'onlyListedPlans'],
  [{ planKeys: ['pro'], cancelledCalls: 'sometimes' }, 'cancelledCalls'],
])('refuses a tool with %j', async (tool, field) => {
  const { status, body } = await mcp.bootstrap({
    plans: [free, pro],
    tools: [{ name: 'a', ...tool }],
  })
  expect([status, (body as unknown as { errors: object[] }).errors]).toEqual([
    400,
    [expect.objectContaining({ path: ['tools', 0, field] })],
  ])
})

test('stores nothing of a request with an invalid mapping', async () => {
  const made = (await mcp.bootstrap({ plans: [free] })).body
  const { reference } = made.product
  const before = await mcp.product(reference)
  const wrong = [{ name: 'search', planKeys: ['gold'] }]
  const refused = await mcp.configure(reference, { plans: [free, pro], toolMapping: wrong })
  expect([refused.status, refused.body.code]).toEqual([400, 'UNKNOWN_PLAN_KEY'])
  const twice = [
    { name: 'a', planKeys: [] },
    { name: 'a', planKeys: [] },
  ]
  expect((await mcp.configure(reference, { toolMapping: twice })).body.code).toBe(
    'DUPLICATE_TOOL_NAME',
  )
  expect(await mcp.product(reference)).toEqual(before)
})

test('serializes concurrent configurations of one product', async () => {
  const { reference } = (await mcp.bootstrap({ plans: [free] })).body.product
  const answers = await Promise.all(
    [900, 1000, 1100, 1200].map((price) =>
      mcp.configure(reference, { plans: [{ ...pro, price }] }),
    ),
  )
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect(new Set(answers.map(({ body }) => body.planMap['pro']!.reference)).size).toBe(1)
  const { plans } = await mcp.product(reference)
  expect(plans!.map(({ name }) => name)).toEqual(['Free', 'Pro'])
})

test('gives a copy its own plans, tools and subdomain', async () => {
  const tools = [{ name: 'search', planKeys: ['pro'] }]
  const made = (await mcp.bootstrap({ name: 'Origin', plans: [free, pro], tools })).body
  const path = `/v1/sdk/products/${made.product.reference}/clone`
  const { body } = await mcp.call<ProductBody>('POST', path, { name: 'Twin' })
  expect(body.isMcpPay).toBe(true)
  expect(body.mcp).toMatchObject({ mcpSubdomain: 'twin', originUrl: mcp.origin.url })
  expect(body.mcp!.mcpServerRef).not.toBe(made.mcpServer.reference)
  const twin = body.plans!.find(({ name }) => name === 'Pro')!
  expect((await mcp.access(body.reference))['search']).toEqual([twin.reference])
  const { planMap } = (await mcp.configure(body.reference, {})).body
  expect(planMap['pro']!.reference).toBe(twin.reference)
})
