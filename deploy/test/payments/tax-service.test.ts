import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { listLines } from '@tollgate/domain/invoices/lines'
import { recomputeInvoice } from '@tollgate/domain/invoices/recompute-invoice'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { signWebhook } from '@tollgate/domain/webhooks/sign-webhook'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import type { InvoiceBody } from '@tollgate/schemas/http/invoices'
import type { TaxServiceResponseBody } from '@tollgate/schemas/http/tax-service'
import { HostedPages } from './hosted-pages.ts'
import { RenewalStack } from './renewal-stack.ts'
import { rates, TaxServiceServer, type Answering } from './tax-service-server.ts'

const service = new TaxServiceServer()
await service.start()
const stack = await RenewalStack.start({
  settings: {
    TOLLGATE_OUTBOUND_SANDBOX_ALLOWED: '127.0.0.1',
    TOLLGATE_TAX_SERVICE_TIMEOUT_MS: '500',
    TOLLGATE_TAX_SERVICE_PAUSE_MS: '0',
  },
})
const { payments } = stack
const planRef = await payments.createPlan({
  price: 1_999,
  currency: 'USD',
  billingCycle: 'monthly',
})
afterAll(async () => {
  await stack.stop()
  await service.stop()
})

const path = '/v1/ui/tax-service'
const runnerSettings = {
  TOLLGATE_OUTBOUND_SANDBOX_ALLOWED: '127.0.0.1',
  TOLLGATE_TAX_SERVICE_TIMEOUT_MS: '500',
  TOLLGATE_BILLING_TRIES_MAX: '1',
}

/** Two taxes of the state and the county: 7.25 % and 1.625 %. */
const californian = rates(
  { rate: '0.0725', label: 'California sales tax', jurisdiction: 'US-CA' },
  { rate: '0.01625', label: 'Alameda County tax', jurisdiction: 'US-CA-Alameda' },
)

let secret: string

async function setService(onFailure: 'hold' | 'built_in'): Promise<void> {
  const request = { url: service.url, onFailure, newSecret: true }
  const { body } = await payments.call<TaxServiceResponseBody>('PUT', path, request)
  secret = body.secret!
}

beforeEach(async () => {
  payments.stack.clock.set('2026-02-01T00:00:00Z')
  await stack.endAll()
  await payments.call('DELETE', path)
  await payments.call('PATCH', '/v1/ui/merchant', { country: 'US', vatNumber: null })
  service.answering = californian
  service.questions.length = 0
})

/** A customer with tax details who bought the plan before there was a tax service. */
async function subscriber(): Promise<Purchase> {
  const purchase = await stack.buy(planRef)
  const place = { country: 'US', region: 'CA', address: '1 Main St\nOakland CA 94601' }
  const details = { isBusiness: false, ...place }
  await payments.call('PUT', `/v1/ui/customers/${purchase.customerRef}/tax-details`, details)
  service.questions.length = 0
  return purchase
}

const renew = (settings: Record<string, string> = {}, at = '2026-03-01T10:00:00Z') =>
  stack.runJob('renewals', at, { ...runnerSettings, ...settings })

async function renewalOf({ reference }: Purchase): Promise<InvoiceBody | undefined> {
  const [invoice] = await stack.invoicesOf(reference)
  if (invoice === undefined) return undefined
  return (await payments.call<InvoiceBody>('GET', `/v1/ui/invoices/${invoice.reference}`)).body
}

test('a checkout asks a customer in the US for the state, and the service for the tax there', async () => {
  const pages = new HostedPages(payments)
  const customerRef = await payments.createCustomer()
  const opened = await pages.openCheckout({ customerRef, productRef: payments.productRef })
  const readPage = async () => (await pages.visit(opened, `?plan=${planRef}`)).text
  expect(await readPage()).not.toContain('California')
  await setService('hold')
  expect(await readPage()).toContain('>United States: California</option>')
  const pay = (country: string) =>
    pages.visit(opened, '/pay', { plan: planRef, currency: 'USD', country })
  await pay('US')
  expect(service.questions).toEqual([])
  await pay('US-CA')
  expect(service.questions[0]).toMatchObject({ sale: { buyer: { country: 'US', region: 'CA' } } })
})

describe('a renewal', () => {
  test('has the tax that the service decides, and is recomputed without the service', async () => {
    const purchase = await subscriber()
    await setService('hold')
    await renew()
    const renewal = await renewalOf(purchase)
    // 8.875 % of $19.99 are 177.4 cents.
    expect(renewal).toMatchObject({
      status: 'paid',
      total: 2_176,
      taxes: [
        {
          ...{ treatment: 'standard', rate: 0.08875, base: 1_999, amount: 177, country: 'US' },
          parts: [
            { label: 'California sales tax', jurisdiction: 'US-CA', rate: 0.0725 },
            { label: 'Alameda County tax', jurisdiction: 'US-CA-Alameda', rate: 0.01625 },
          ],
        },
      ],
    })
    expect(renewal!.lines.at(-1)!.description).toBe(
      'California sales tax, Alameda County tax 8.875 % (US)',
    )
    const { providerId } = payments.tenant
    const lines = await listLines(stack.sql, providerId, renewal!.reference)
    expect(recomputeInvoice({ lines, totalMinor: 2_176n })).toEqual([])
  })

  test('asks once, with a signed description of the sale', async () => {
    const purchase = await subscriber()
    await setService('hold')
    await renew()
    expect(service.questions).toHaveLength(1)
    const [{ sale, body, signature }] = service.questions as [(typeof service.questions)[0]]
    expect(sale).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      livemode: false,
      date: '2026-03-01',
      currency: 'USD',
      pricesIncludeTax: false,
      seller: { country: 'US', taxId: null, address: null },
      buyer: {
        ...{ reference: purchase.customerRef, isBusiness: false, taxId: null },
        ...{ country: 'US', region: 'CA', address: '1 Main St\nOakland CA 94601' },
      },
      product: payments.productRef,
      plan: planRef,
      lines: [{ kind: 'recurring', description: expect.any(String) as string, amount: 1_999 }],
    })
    const sentAt = Number(/^t=(\d+),/.exec(signature)?.[1])
    expect(signature).toBe(signWebhook([secret], body, sentAt))
  })

  test('is made by the next run if the process dies between the answer and the commit', async () => {
    const purchase = await subscriber()
    await setService('hold')
    // Connect as the owner of the tables, who may add triggers.
    const url = payments.stack.databaseUrl
    const owner = createPostgresDatabase({ url, isOwner: true, poolMax: 1 })
    const sql = owner.in('sandbox')
    await sql.unsafe(`
      create function die() returns trigger language plpgsql
        as $$ begin raise exception 'the process died before its commit'; end $$;
      create constraint trigger die after insert on invoices
        deferrable initially deferred for each row execute function die()`)
    try {
      expect((await renew()).get('failed')).toBe(1)
    } finally {
      await sql.unsafe('drop trigger die on invoices; drop function die()')
      await owner.close()
    }
    expect(service.questions).toHaveLength(1)
    expect(await renewalOf(purchase)).toBeUndefined()
    expect(await stack.succeededChargesOf(purchase.reference)).toBe(0)
    // The answer is lost with the process. The sale has the same id, and the later answer counts.
    service.answering = rates({ rate: '0.05', label: 'Later tax' })
    await renew()
    const [first, again] = service.questions
    expect(service.questions).toHaveLength(2)
    expect(again!.sale.id).toBe(first!.sale.id)
    expect(await renewalOf(purchase)).toMatchObject({ status: 'paid', taxes: [{ rate: 0.05 }] })
    expect(await stack.succeededChargesOf(purchase.reference)).toBe(1)
  })

  test.each([
    ['nothing', () => undefined],
    ['500', (_, response) => void response.writeHead(500).end('{}')],
    ['no JSON', (_, response) => void response.end('<html>')],
    ['another form', (_, response) => void response.end('{"rate":"0.1"}')],
    ['too many decimals', rates({ rate: '0.1234567', label: 'Tax' })],
    ['a number in place of text', (_, r) => void r.end('{"rates":[{"rate":0.1,"label":"Tax"}]}')],
    ['rates above 1', rates({ rate: '0.6', label: 'A' }, { rate: '0.5', label: 'B' })],
    ['a label of two lines', rates({ rate: '0.1', label: 'Tax\nTotal: 0' })],
    ['an endless body', (_, response) => void response.end(' '.repeat(100_000))],
  ] satisfies [string, Answering][])(
    'waits with `hold` while the service answers %s, and is made when it answers',
    async (_, answering) => {
      const purchase = await subscriber()
      await setService('hold')
      service.answering = answering
      expect((await renew()).get('failed')).toBe(1)
      expect(await renewalOf(purchase)).toBeUndefined()
      service.answering = californian
      await renew({}, '2026-03-02T10:00:00Z')
      expect(await renewalOf(purchase)).toMatchObject({ status: 'paid', total: 2_176 })
    },
  )

  test('uses the built-in rates with `built_in` while the service is down', async () => {
    await payments.call('PATCH', '/v1/ui/merchant', {
      ...{ country: 'SE', vatNumber: 'SE556012579001' },
    })
    const purchase = await stack.buy(planRef)
    const details = { isBusiness: false, country: 'SE' }
    await payments.call('PUT', `/v1/ui/customers/${purchase.customerRef}/tax-details`, details)
    await setService('built_in')
    service.answering = (_, response) => void response.destroy()
    await renew()
    const renewal = await renewalOf(purchase)
    expect(renewal).toMatchObject({ total: 2_499, taxes: [{ rate: 0.25, country: 'SE' }] })
    expect(renewal!.taxes[0]!.parts).toBeUndefined()
  })

  test('is not taxed if the service names no rate', async () => {
    const purchase = await subscriber()
    await setService('hold')
    service.answering = rates()
    await renew()
    expect(await renewalOf(purchase)).toMatchObject({
      ...{ total: 1_999, taxes: [{ treatment: 'none', amount: 0 }] },
    })
  })
})

describe('a payment', () => {
  test('is asked about with the entered details, and its invoice has the same tax', async () => {
    await setService('hold')
    const customerRef = await payments.createCustomer()
    const request = { customerRef, productRef: payments.productRef, planRef }
    const { body: intent } = await payments.createIntent(`taxed-${customerRef}`, request)
    const taxed = await payments.call<{ taxBreakdown: object }>(
      'POST',
      `/v1/sdk/payment-intents/${intent.processorPaymentId}/business-details`,
      { customerRef, isBusiness: false, customerCountry: 'US' },
    )
    expect(taxed.body.taxBreakdown).toMatchObject({ taxAmount: 177, taxRate: 0.08875 })
    await payments.confirm(intent.processorPaymentId)
    await payments.process(intent.processorPaymentId, customerRef)
    const list = `/v1/ui/invoices?customerRef=${customerRef}`
    const { body } = await payments.call<{ invoices: { reference: string }[] }>('GET', list)
    const invoice = `/v1/ui/invoices/${body.invoices[0]!.reference}`
    expect((await payments.call<InvoiceBody>('GET', invoice)).body).toMatchObject({
      ...{ total: 2_176, status: 'paid' },
      taxes: [{ amount: 177, parts: [{ rate: 0.0725 }, { rate: 0.01625 }] }],
    })
  })

  test('is refused with 503 while the service does not answer', async () => {
    await setService('hold')
    service.answering = (_, response) => void response.destroy()
    const customerRef = await payments.createCustomer()
    const request = { customerRef, productRef: payments.productRef, planRef }
    const { body: intent } = await payments.createIntent(`held-${customerRef}`, request)
    const refused = await payments.call<{ code: string }>(
      'POST',
      `/v1/sdk/payment-intents/${intent.processorPaymentId}/business-details`,
      { customerRef, isBusiness: false, customerCountry: 'US' },
    )
    expect([refused.status, refused.body.code]).toEqual([503, 'tax_service_unavailable'])
  })
})

test('a credit leaves a part to charge while the service does not know the country of the customer', async () => {
  await setService('hold')
  const customerRef = await payments.createCustomer()
  await stack.sql`
    insert into carried_amounts (provider_id, customer_ref, currency, amount, updated_at)
    values (${payments.tenant.providerId}, ${customerRef}, 'USD', -5000, now())`
  const request = { customerRef, productRef: payments.productRef, planRef }
  const activated = await payments.call<{ status: string }>('POST', '/v1/sdk/activate', request)
  expect(activated.body.status).toBe('payment_required')
  const { body: intent } = await payments.createIntent(`credit-${customerRef}`, request)
  expect(intent).toMatchObject({ originalAmount: 50, fromBalance: 1_949 })
  await payments.call(
    'POST',
    `/v1/sdk/payment-intents/${intent.processorPaymentId}/business-details`,
    { customerRef, isBusiness: false, customerCountry: 'US' },
  )
  const changed = await payments.call('GET', `/v1/sdk/payment-intents/${intent.processorPaymentId}`)
  expect(changed.body).toMatchObject({ originalAmount: 227, fromBalance: 1_949 })
})

describe('the settings', () => {
  test('show the secret once, and keep it until another one is requested', async () => {
    const put = async (fields: object) =>
      (await payments.call<TaxServiceResponseBody>('PUT', path, { url: service.url, ...fields }))
        .body
    const first = await put({})
    expect(first.secret).toMatch(/^whsec_/)
    expect((await put({ onFailure: 'built_in' })).secret).toBeUndefined()
    expect((await put({ newSecret: true })).secret).not.toBe(first.secret)
    const { body } = await payments.call<TaxServiceResponseBody>('GET', path)
    expect(body).toEqual({ taxService: expect.objectContaining({ onFailure: 'hold' }) as object })
  })

  test.each(['http://169.254.169.254/latest', 'https://10.0.0.1/', 'https://example.com:22/'])(
    'refuse %s',
    async (url) => {
      const { status, body } = await payments.call<{ code: string }>('PUT', path, { url })
      expect([status, body.code]).toEqual([400, 'tax_service_url_refused'])
    },
  )

  test('belong to one environment of one provider', async () => {
    await setService('hold')
    const other = await payments.stack.createTenant()
    for (const key of [other.sandboxKey, payments.tenant.liveKey]) {
      const { body } = await payments.stack.call<TaxServiceResponseBody>(key, 'GET', path)
      expect(body).toEqual({ taxService: null })
    }
  })
})
