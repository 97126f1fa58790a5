import type {
  CancelPreviewBody,
  ChangePreviewBody,
  InvoicePreviewBody,
  PlanPreviewBody,
} from '@tollgate/schemas/http/previews'
import { afterAll, beforeEach, expect, test } from 'vitest'
import type { TollgateClient } from '../../src/client/tollgate-client.ts'
import { createManualClock } from '../manual-clock.ts'
import { createCustomer } from '../offers.ts'
import { createEmbeddedStack } from '../stack-under-test.ts'

/* Previews over HTTP, on all services. */

const clock = createManualClock('2027-01-04T10:00:00Z')
const settings = { TOLLGATE_PREVIEW_HOLDERS_MAX: '2' }
const underTest = await createEmbeddedStack('the control plane', { clock, settings })
afterAll(() => underTest.remove())

let client: TollgateClient
let productRef: string

beforeEach(async () => {
  clock.set('2027-01-04T10:00:00Z')
  client = (await underTest.stack.createProvider()).sandbox
  productRef = (await client.createProduct({ name: 'Metered' })).reference
})

/** 100 units are free, further units cost 1 cent each. */
const metered = {
  ...{ name: 'As you go', type: 'usage-based', billingModel: 'post-paid' },
  ...{ billingCycle: 'monthly', creditsPerUnit: 100, freeUnits: 100 },
}

async function send<Body>(path: string, body?: unknown, by = client): Promise<Body> {
  const answer = await by.send('POST', path, body)
  expect([answer.status, answer.body]).toEqual([200, answer.body])
  return answer.body as Body
}

async function activate(
  plan: Record<string, unknown>,
): Promise<{ purchaseRef: string; customerRef: string }> {
  const { reference: planRef } = await client.createPlan(productRef, plan)
  return take(planRef)
}

async function take(planRef: string): Promise<{ purchaseRef: string; customerRef: string }> {
  const customerRef = await createCustomer(client)
  const body = { customerRef, productRef, planRef }
  const { purchaseRef } = await send<{ purchaseRef: string }>('/v1/sdk/activate', body)
  return { purchaseRef, customerRef }
}

function use(customerRef: string, units: number): Promise<unknown> {
  const timestamp = new Date(clock.now()).toISOString()
  return client.recordUsage({ customerRef, productRef, units, timestamp })
}

const invoicePreview = (purchaseRef: string, body?: object) =>
  send<InvoicePreviewBody>(`/v1/sdk/purchases/${purchaseRef}/invoice-preview`, body)

test('sees usage that was just accepted, and names tiers and dates', async () => {
  const { purchaseRef, customerRef } = await activate(metered)
  clock.set('2027-01-10T10:00:00Z')
  await use(customerRef, 350)
  const preview = await invoicePreview(purchaseRef)
  expect(preview).toMatchObject({
    purchaseRef,
    period: { start: '2027-01-04T10:00:00.000Z', end: '2027-02-04T10:00:00.000Z' },
    asOf: '2027-01-10T10:00:00.000Z',
    usageAsOf: '2027-01-10T10:00:00.000Z',
    unpriced: [],
    invoices: [
      {
        ...{ cause: 'usage', purchaseRef, total: 250, due: 250, carried: 0, minimumCharge: 50 },
        issuedAt: '2027-02-04T11:00:00.000Z',
        chargedAt: '2027-02-04T11:00:00.000Z',
        lines: [{ kind: 'usage', amount: 250, prices: [{ units: '250', price: '100' }] }],
      },
    ],
  })
})

test('assumes usage of the named meters, and reports what no invoice charges', async () => {
  const { purchaseRef, customerRef } = await activate(metered)
  await use(customerRef, 350)
  const usage = [
    { meter: 'requests', units: 1_100 },
    { meter: 'tokens', units: 5 },
  ]
  const preview = await invoicePreview(purchaseRef, { usage })
  expect(preview).toMatchObject({ invoices: [{ total: 1_000 }], unpriced: [usage[1]] })
  const small = { usage: [{ meter: 'requests', units: 149 }] }
  expect(await invoicePreview(purchaseRef, small)).toMatchObject({
    invoices: [{ total: 49, due: 0, carried: 49, isIssued: true }],
  })
  const free = await invoicePreview(purchaseRef, { usage: [{ meter: 'requests', units: 100 }] })
  expect(free.invoices).toMatchObject([{ isIssued: false, total: 0, due: 0 }])
  expect(free.invoices[0]).not.toHaveProperty('chargedAt')
})

test('shows the wallet that pays for the usage', async () => {
  const plan = {
    name: 'Credits',
    type: 'usage-based',
    billingModel: 'pre-paid',
    creditsPerUnit: 100,
  }
  const { purchaseRef } = await activate(plan)
  const preview = await invoicePreview(purchaseRef, { usage: [{ meter: 'requests', units: 7 }] })
  expect(preview).toMatchObject({ invoices: [], wallet: { creditBalance: '0', usageCost: 7 } })
})

test('previews a change and a cancellation, with the status and the refusal of the request itself', async () => {
  const { purchaseRef, customerRef } = await activate(metered)
  await use(customerRef, 350)
  clock.set('2027-01-05T10:00:00Z')
  const pro = await client.createPlan(productRef, {
    ...{ name: 'Pro', type: 'recurring', price: 4_900, billingCycle: 'monthly' },
  })
  const path = `/v1/sdk/purchases/${purchaseRef}`
  const change = await send<ChangePreviewBody>(`${path}/change-preview`, {
    planRef: pro.reference,
  })
  expect(change).toMatchObject({
    ...{ status: 'payment_required', needs: 'payment', startsAt: '2027-01-05T10:00:00.000Z' },
    invoices: [
      { cause: 'first_payment', due: 4_900, issuedAt: '2027-01-05T10:00:00.000Z' },
      { cause: 'usage', purchaseRef, due: 250, issuedAt: '2027-01-05T11:00:00.000Z' },
      { cause: 'renewal', due: 4_900, issuedAt: '2027-02-05T10:00:00.000Z' },
    ],
  })
  expect(change.invoices[0]).not.toHaveProperty('purchaseRef')
  const unknown = await send<ChangePreviewBody>(`${path}/change-preview`, { planRef: 'pln_NONE' })
  const body = { customerRef, productRef, planRef: 'pln_NONE' }
  const refused = await send<{ message: string }>('/v1/sdk/activate', body)
  expect(unknown).toMatchObject({ status: 'invalid', message: refused.message })

  const cancelled = await send<CancelPreviewBody>(`${path}/cancel-preview`)
  expect(cancelled).toMatchObject({
    ...{ effect: 'scheduled', endsAt: '2027-02-04T10:00:00.000Z', releasedInvoices: [] },
    invoices: [{ cause: 'usage', due: 250, issuedAt: '2027-02-04T11:00:00.000Z' }],
  })
  // Nothing was cancelled or changed.
  const { body: after } = await client.send('GET', path)
  expect(after).toMatchObject({ status: 'active', planSnapshot: { name: 'As you go' } })
  expect(after).not.toHaveProperty('cancelledAt')
})

test('shows what a changed plan would cost its holders, page by page, and that they keep their terms', async () => {
  const { reference: planRef } = await client.createPlan(productRef, metered)
  const holders = [await take(planRef), await take(planRef), await take(planRef)]
  for (const [at, { customerRef }] of holders.entries()) await use(customerRef, 200 * (at + 1))
  clock.set('2027-02-10T10:00:00Z')
  const path = `/v1/sdk/products/${productRef}/plans/${planRef}/change-preview`
  const pages = [
    await send<PlanPreviewBody>(path, { creditsPerUnit: 300 }),
    await send<PlanPreviewBody>(`${path}?offset=2`, { creditsPerUnit: 300 }),
  ]
  expect(pages[0]).toMatchObject({ total: 3, limit: 2, offset: 0, appliesTo: 'new_purchases' })
  const priced = pages.flatMap((page) => page.holders)
  const byHolder = new Map(priced.map((each) => [each.purchaseRef, each]))
  for (const [at, { purchaseRef }] of holders.entries()) {
    const billed = 200 * (at + 1) - 100
    expect(byHolder.get(purchaseRef)).toMatchObject({
      period: { start: '2027-01-04T10:00:00.000Z', end: '2027-02-04T10:00:00.000Z' },
      before: { price: 0, usage: billed, total: billed },
      after: { price: 0, usage: billed * 3, total: billed * 3 },
      difference: billed * 2,
    })
  }
  const refused = await client.send('POST', path, { creditsPerUnit: -1 })
  expect(refused.status).toBe(400)
  const update = { creditsPerUnit: 0.001, price: -1 }
  const [preview, real] = [
    await client.send('POST', path, update),
    await client.send('PUT', path.replace('/change-preview', ''), update),
  ]
  expect([preview.status, preview.body]).toEqual([400, expect.anything()])
  expect(preview.status).toBe(real.status)
  const { body } = await client.send('GET', path.replace('/change-preview', ''))
  expect(body).toMatchObject({ creditsPerUnit: 100 })
})

test('lets a key preview that may only read, and hides purchases of other providers and environments', async () => {
  const { purchaseRef, customerRef } = await activate(metered)
  const reading = await keyWith('read')
  const path = `/v1/sdk/purchases/${purchaseRef}`
  for (const kind of ['invoice', 'cancel']) {
    await send(`${path}/${kind}-preview`, undefined, reading)
  }
  const recording = await keyWith('ingest')
  expect((await recording.send('POST', `${path}/invoice-preview`)).status).toBe(403)
  const others = await underTest.stack.createProvider()
  for (const other of [others.sandbox, others.live]) {
    for (const kind of ['invoice', 'change', 'cancel']) {
      const body = kind === 'change' ? { planRef: 'pln_A' } : undefined
      const answer = await other.send('POST', `${path}/${kind}-preview`, body)
      expect([answer.status, answer.body]).toMatchObject([404, { code: 'purchase_not_found' }])
      expect(JSON.stringify(answer.body)).not.toContain(customerRef)
    }
  }
})

async function keyWith(scope: string): Promise<TollgateClient> {
  const { body } = await client.send('POST', '/v1/ui/api-keys', { scopes: [scope] })
  return underTest.stack.clientWithKey((body as { secretKey: string }).secretKey)
}

test('tells a customer on the page of a cancellation what is still charged', async () => {
  const { purchaseRef, customerRef } = await activate(metered)
  await use(customerRef, 350)
  const path = `/purchases/${purchaseRef}/cancel`
  const text = await (await openPortal(customerRef))(path)
  expect(text).toContain('$2.50 will be charged on Feb 4, 2027 for your usage so far.')
  const other = await createCustomer(client)
  const foreign = await (await openPortal(other))(path)
  expect(foreign).not.toContain('$2.50')
})

/** Opens the portal, and returns a function that reads its pages. */
async function openPortal(customerRef: string): Promise<(below: string) => Promise<string>> {
  const { baseUrl } = underTest.stack
  const sessions = '/v1/sdk/customers/customer-sessions'
  const { body: session } = await client.send('POST', sessions, { customerRef })
  const { sessionId } = session as { sessionId: string }
  const body = new URLSearchParams({ id: sessionId })
  const opened = await fetch(`${baseUrl}/customer/manage`, {
    ...{ method: 'POST', body, redirect: 'manual' },
  })
  const [cookie = ''] = opened.headers.get('set-cookie')?.split(';') ?? []
  const portal = new URL(opened.headers.get('location') ?? '', baseUrl).pathname
  return async (below) => {
    const page = await fetch(baseUrl + portal + below, {
      headers: { cookie, 'accept-language': 'en-US' },
    })
    return page.text()
  }
}
