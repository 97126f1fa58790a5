import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serviceKeyOf } from '@tollgate/domain/api-keys/service-key'
import type { GatedCall } from '@tollgate/mcp-proxy/gate/gate'
import { gateSettings } from '@tollgate/mcp-proxy/gate/gate-settings'
import { openGate, type GateOptions, type OpenedGate } from '@tollgate/mcp-proxy/gate/open-gate'
import type { ServedServer } from '@tollgate/mcp-proxy/servers/served-server'
import { systemClock } from '@tollgate/platform/clock/clock'
import { readSettings } from '@tollgate/platform/config/settings'
import { createLogger } from '@tollgate/platform/observability/logger'
import { createMetrics } from '@tollgate/platform/observability/metrics'
import { toolMeterName } from '@tollgate/schemas/http/mcp'
import type { JsonObject } from '@tollgate/schemas/json-object'
import { ownKeySchema } from '@tollgate/schemas/http/own-key'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startAnsweringServer, type AnsweringServer } from './mcp/answering-server.ts'
import { startCuttingRelay } from './mcp/cutting-relay.ts'
import { aroundNow, callOf, isHeld, paywallIn, serverOf as servedBy } from './mcp/gated-calls.ts'
import { createCappedProduct, createCustomer } from './offers.ts'
import { startStack } from './stack.ts'
import { creditsPerUnit, WalletCaller } from './wallet-caller.ts'

/* The gate of the MCP proxy with real services: which calls it admits, and what its records count. */

const serviceSecret = randomUUID() + randomUUID()
const cap = 20

const stack = await startStack({ settings: { TOLLGATE_SERVICE_SECRET: serviceSecret } })
const client = (await stack.createProvider()).sandbox
const providerId = ownKeySchema.parse((await client.send('GET', '/v1/sdk/key')).body).providerId
const dataDir = await mkdtemp(join(tmpdir(), 'tollgate-gate-'))
const opened = await open()

afterAll(async () => {
  await opened.stop()
  await stack.stop()
  await rm(dataDir, { recursive: true })
})

function open(
  settings: Record<string, string> = {},
  changes: Partial<GateOptions> = {},
): Promise<OpenedGate> {
  return openGate({
    ingestUrl: stack.baseUrl,
    controlPlaneUrl: stack.baseUrl,
    serviceSecret,
    dataDir,
    limits: readSettings(gateSettings, settings),
    clock: systemClock,
    logger: createLogger('mcp-proxy', 'silent'),
    metrics: createMetrics('mcp-proxy'),
    ...changes,
  })
}

const serverOf = (productRef: string, changes: Partial<ServedServer> = {}): ServedServer =>
  servedBy(providerId, productRef, changes)

const success = { outcome: 'success', durationMs: 12 } as const

/** Returns whether the call was admitted. An admitted call succeeds. */
async function call(given: GatedCall): Promise<boolean> {
  const admission = await opened.gate.admit(given)
  // Holds wait for the counters, which may be slow on a busy machine.
  if (admission.kind === 'unavailable') return call(given)
  if (admission.kind !== 'admitted') {
    expect(admission.kind).toBe('paywalled')
    return false
  }
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 20))
  admission.settle(success)
  return true
}

const openWallets = () =>
  WalletCaller.open(stack, client, (...request) => client.require(...request) as never)

const remainingOf = async (customerRef: string, productRef: string) =>
  (await client.checkLimit(customerRef, productRef)).remaining

test('admits exactly as many concurrent calls as the cap allows, and records each', async () => {
  const productRef = await createCappedProduct(client, cap)
  const customerRef = await createCustomer(client)
  const server = serverOf(productRef)
  const made = await Promise.all(
    Array.from({ length: 3 * cap }, () => call(callOf(server, customerRef))),
  )
  expect(made.filter((isAdmitted) => isAdmitted)).toHaveLength(cap)
  await expect.poll(() => remainingOf(customerRef, productRef)).toBe(0)
})

const clientKey = { name: 'again', sentSha256: 'of-each-the-same' }

test('counts a call once in the requests and in the meter of its tool, and debits only success', async () => {
  const wallets = await openWallets()
  const { productRef } = wallets
  const customerRef = await wallets.createPayer()
  await wallets.grant(customerRef, 5 * creditsPerUnit)
  const toolName = `tool-${randomUUID()}`
  const { reference: meterRef } = (await client.require('POST', '/v1/ui/meters', {
    ...{ name: toolMeterName(toolName), unit: 'calls', aggregation: 'count' },
  })) as { reference: string }
  const server = serverOf(productRef, {
    tools: new Map([[toolName, { access: 'every-plan', planRefs: [] }]]),
  })
  for (const outcome of ['success', 'fail', 'success'] as const) {
    const admission = await opened.gate.admit(callOf(server, customerRef, { toolName }))
    if (admission.kind !== 'admitted') throw new Error(admission.kind)
    admission.settle({ outcome, durationMs: 3, ...(outcome === 'fail' && { reason: 'broken' }) })
    // A second end of the same call changes nothing.
    admission.settle({ outcome: 'success', durationMs: 4 })
  }
  await expect.poll(() => wallets.balanceOf(customerRef)).toBe(3 * creditsPerUnit)
  for (let repeat = 0; repeat < 3; repeat++) {
    const repeated = callOf(server, customerRef, { toolName, clientKey })
    expect(await call(repeated)).toBe(true)
  }
  await expect.poll(() => wallets.balanceOf(customerRef)).toBe(2 * creditsPerUnit)
  for (const meter of [meterRef, await client.requestsMeter()]) {
    const used = { ...aroundNow(), customerRef }
    expect(await client.meterUsage(meter, used)).toMatchObject({ total: 3, count: 5 })
    const failed = { ...used, outcome: 'fail' }
    expect(await client.meterUsage(meter, failed)).toMatchObject({ total: 1, count: 1 })
  }
})

test('gives the same number of free repeats at several processes, and after a restart', async () => {
  const productRef = await createCappedProduct(client, 1_000)
  const customerRef = await createCustomer(client)
  const repeated = () => callOf(serverOf(productRef), customerRef, { clientKey })
  const others = [await open(), await open()] as const
  const callAt = async ({ gate }: OpenedGate) => {
    const admission = await gate.admit(repeated())
    if (admission.kind !== 'admitted') throw new Error(admission.kind)
    admission.settle(success)
  }
  for (let round = 0; round < 2; round++) {
    for (const at of [opened, ...others]) await callAt(at)
  }
  await Promise.all(others.map((each) => each.stop()))
  const restarted = await open()
  await callAt(restarted)
  await restarted.stop()
  // Of 7 calls, the first one and those after 3 repeats are billed.
  await expect.poll(() => remainingOf(customerRef, productRef)).toBe(1_000 - 4)
  const used = { ...aroundNow(), customerRef }
  const counted = () => client.meterUsage(requestsMeter, used)
  const requestsMeter = await client.requestsMeter()
  // Each call has a record. Free repeats count 0 units.
  await expect.poll(counted).toMatchObject({ total: 4, count: 7 })
})

const paywallOf = (given: GatedCall) => paywallIn(opened.gate, given)

test('lets every customer call a public tool, without a record', async () => {
  const server = serverOf('prd_UNKNOWN', {
    tools: new Map([['open', { access: 'public', planRefs: [] }]]),
  })
  const admission = await opened.gate.admit(callOf(server, '', { toolName: 'open' }))
  expect(admission).toEqual({ kind: 'open' })
})

test('asks for a plan that includes the tool', async () => {
  const productRef = await createCappedProduct(client, cap)
  const customerRef = await createCustomer(client)
  const [free] = await client.listPlans(productRef)
  const { reference: pro } = await client.createPlan(productRef, {
    ...{ name: 'Pro', type: 'recurring', billingCycle: 'monthly', price: 900 },
  })
  const named = { access: 'plans' as const, planRefs: [pro] }
  const tools = new Map([['search', named]])
  const denied = await paywallOf(callOf(serverOf(productRef, { tools }), customerRef))
  expect(denied).toEqual({
    kind: 'payment_required',
    product: productRef,
    checkoutUrl: expect.stringMatching(/\/customer\/connect\/[\w-]+$/) as string,
    message:
      'The current plan does not include the tool search. ' +
      `Use the tool \`upgrade\` to choose a plan, or open ${denied.checkoutUrl}`,
  })
  // The default plan is always allowed too. An unknown tool is open only to the default plan.
  const server = serverOf(productRef, { tools, defaultPlanRef: free!.reference })
  for (const toolName of ['search', 'unknown']) {
    expect(await call(callOf(server, customerRef, { toolName }))).toBe(true)
  }
  const without = serverOf(productRef, { tools: new Map() })
  expect((await paywallOf(callOf(without, customerRef))).kind).toBe('payment_required')
})

test('returns whether payment or activation is required, and records the outcome `paywall`', async () => {
  const productRef = await createCappedProduct(client, 1)
  const customerRef = await createCustomer(client)
  const server = serverOf(productRef)
  expect(await call(callOf(server, customerRef))).toBe(true)
  const reached = await paywallOf(callOf(server, customerRef))
  expect(reached).toMatchObject({
    kind: 'payment_required',
    message: expect.stringContaining(
      'The limit of the current plan of Capped at 1 is reached',
    ) as string,
    productDetails: { reference: productRef, name: 'Capped at 1' },
  })
  expect(reached).not.toHaveProperty('plans')

  const wallets = await openWallets()
  const empty = await wallets.createPayer()
  expect(await paywallOf(callOf(serverOf(wallets.productRef), empty))).toMatchObject({
    // Every paid plan on offer is billed by usage.
    kind: 'activation_required',
    message: expect.stringMatching(/^There are no credits left .* `topup`/) as string,
    balance: { creditBalance: 0 },
    plans: [{ reference: wallets.planRef }],
  })
  const paywalls = async () => {
    const usage = { ...aroundNow(), customerRef: empty, outcome: 'paywall' }
    return (await client.meterUsage(await client.requestsMeter(), usage)).count
  }
  await expect.poll(paywalls).toBe(1)
})

test('refuses a call while ingest is unavailable, or allows it if so configured', async () => {
  const productRef = await createCappedProduct(client, cap)
  const customerRef = await createCustomer(client)
  const given = callOf(serverOf(productRef), customerRef)
  const away = { ingestUrl: 'http://127.0.0.1:9' }
  for (const [limitsUnknown, kind] of [
    ['refuse', 'unavailable'],
    ['allow', 'admitted'],
  ] as const) {
    const settings = {
      TOLLGATE_MCP_LIMITS_UNKNOWN: limitsUnknown,
      TOLLGATE_MCP_JOURNAL_STOP_GRACE_MS: '0',
    }
    const alone = await open(settings, away)
    const admission = await alone.gate.admit(given)
    expect(admission.kind).toBe(kind)
    if (admission.kind === 'admitted') admission.settle(success)
    await alone.stop()
  }
  // The next process delivers the remaining records.
  const next = await open()
  await expect.poll(() => remainingOf(customerRef, productRef)).toBe(cap - 1)
  await next.stop()
})

test('uses the last answer of ingest while ingest is unavailable for a short time', async () => {
  const productRef = await createCappedProduct(client, 1_000)
  const customerRef = await createCustomer(client)
  const given = callOf(serverOf(productRef), customerRef)
  const { port } = new URL(stack.baseUrl)
  const relay = await startCuttingRelay(
    () => Number(port),
    () => false,
  )
  const away = { ingestUrl: `http://127.0.0.1:${relay.port}` }
  const quick = { TOLLGATE_MCP_LIMITS_FRESH_MS: '0', TOLLGATE_MCP_JOURNAL_STOP_GRACE_MS: '0' }
  const [patient, strict] = [
    await open(quick, away),
    await open({ ...quick, TOLLGATE_MCP_LIMITS_STALE_MS: '0' }, away),
  ]
  const kinds = async () => [
    (await patient.gate.admit(given)).kind,
    (await strict.gate.admit(given)).kind,
  ]
  expect(await kinds()).toEqual(['admitted', 'admitted'])
  await relay.stop()
  expect(await kinds()).toEqual(['admitted', 'unavailable'])
  await patient.stop()
  await strict.stop()
})

test('records no usage for an interim result, and releases its hold', async () => {
  const productRef = await createCappedProduct(client, 1)
  const customerRef = await createCustomer(client)
  const given = callOf(serverOf(productRef), customerRef)
  for (let round = 0; round < 3; round++) {
    const admission = await opened.gate.admit(given)
    if (admission.kind !== 'admitted') throw new Error(admission.kind)
    admission.settle({ outcome: 'interim', durationMs: 1 })
    await expect.poll(() => isHeld(client, customerRef, productRef)).toBe(false)
  }
  expect(await remainingOf(customerRef, productRef)).toBe(1)
  expect(await call(given)).toBe(true)
  await expect.poll(() => remainingOf(customerRef, productRef)).toBe(0)
})

describe('links and the tools of the proxy', () => {
  let controlPlane: AnsweringServer
  let linked: OpenedGate
  let server: ServedServer

  beforeAll(async () => {
    controlPlane = await startAnsweringServer()
    linked = await open({}, { controlPlaneUrl: controlPlane.url })
    server = serverOf(await createCappedProduct(client, 1))
  })
  afterAll(async () => {
    await linked.stop()
    controlPlane.stop()
  })
  beforeEach(() => controlPlane.requests.splice(0))

  const url = 'https://hosted.test/customer/connect/con_1'
  const callTool = async (name: string, given: JsonObject = {}, customerRef = 'cus_1') => {
    const { client: plain } = callOf(server, customerRef)
    const request = { server, customerRef, toolName: name, arguments: given, client: plain }
    const result = await linked.gate.callVirtual(request)
    const [content] = result['content'] as [{ type: string; text: string }]
    expect(content.type).toBe('text')
    return { isError: result['isError'], said: JSON.parse(content.text) as JsonObject }
  }

  test.each([
    ['upgrade', { planRef: 'pln_1' }, { purpose: 'checkout', planRef: 'pln_1' }],
    ['upgrade_plan', {}, { purpose: 'checkout' }],
    ['activate_plan', {}, { purpose: 'checkout' }],
    ['topup', {}, { purpose: 'topup' }],
    ['manage_account', { planRef: 'pln_1' }, { purpose: 'portal' }],
    ['manage_purchase', {}, { purpose: 'portal' }],
  ])('answers %s with a link that is created once', async (name, given, body) => {
    controlPlane.answer = () => [201, { url }]
    const customerRef = `cus_${name}`
    for (let again = 0; again < 2; again++) {
      const { isError, said } = await callTool(name, given, customerRef)
      expect([isError, said]).toEqual([undefined, { url, message: `Open ${url} and sign in.` }])
    }
    const { productRef } = server
    const authorization = `Bearer ${serviceKeyOf(serviceSecret, server)}`
    const path = '/v1/customer/auth/links'
    expect(controlPlane.requests).toEqual([
      { path, authorization, body: { customerRef, productRef, ...body } },
    ])
  })

  test('describes the customer in get_user_info, with a link that does not sign in', async () => {
    const session = 'https://hosted.test/customer/manage?id=ses_SECRET'
    controlPlane.answer = (path) =>
      path === '/v1/sdk/user-info' ? [200, { status: 'ok', verifyUrl: session }] : [200, { url }]
    expect(await callTool('get_user_info', {}, 'cus_info')).toEqual({
      isError: undefined,
      said: { status: 'ok', verifyUrl: url },
    })
  })

  test('returns an error in the result if a tool is unavailable', async () => {
    controlPlane.answer = () => [503, { message: 'away' }]
    for (const [name, given] of [
      ['upgrade', {}],
      ['upgrade', { planRef: 1 }],
      ['upgrade', { planRef: 'pln_made_up' }],
      ['upgrade', { planRef: 'x'.repeat(10_000) }],
      ['get_user_info', {}],
    ] as const) {
      const { isError, said } = await callTool(name, given, 'cus_away')
      expect([isError, said]).toEqual([true, { error: expect.any(String) as string }])
    }
    expect(JSON.stringify(controlPlane.requests)).not.toContain('xxx')
  })

  test('includes a link in a paywall, but none while the control plane is unavailable', async () => {
    const customerRef = await createCustomer(client)
    expect(await call(callOf(server, customerRef))).toBe(true)
    const opensUrls = { era: 'sessions', opensUrls: true, showsApps: false } as const
    const admit = (given: GatedCall) => linked.gate.admit(given)
    controlPlane.answer = () => [200, { url }]
    expect(await admit(callOf(server, customerRef, { client: opensUrls }))).toMatchObject({
      answer: { kind: 'error', code: -32042, data: { elicitations: [{ mode: 'url', url }] } },
    })
    const other = serverOf(server.productRef, {
      tools: new Map([['search', { access: 'plans', planRefs: ['pln_other'] }]]),
    })
    controlPlane.answer = () => [502, {}]
    expect(await admit(callOf(other, customerRef, { client: opensUrls }))).toMatchObject({
      answer: { kind: 'result', result: { structuredContent: { checkoutUrl: '' } } },
    })
  })

  test('answers recovery tools only if the MCP server has no tool of that name', () => {
    const own = serverOf('prd_1', {
      tools: new Map([['topup', { access: 'public', planRefs: [] }]]),
    })
    expect(
      ['topup', 'activate_plan', 'upgrade', 'search'].map((name) =>
        linked.gate.isVirtual(own, name),
      ),
    ).toEqual([false, true, true, false])
  })
})
