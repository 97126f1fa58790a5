import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readParties } from '@tollgate/domain/invoices/parties'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { ProductBody } from '@tollgate/schemas/http/products'
import type { PlanBody } from '@tollgate/schemas/http/plans'
import type { PurchaseBody } from '@tollgate/schemas/http/purchases'
import { accentStylesheetPath } from '../src/pages/accent-stylesheet.ts'
import { creditSample, issueSample } from './printed-invoice.ts'
import { readPdf } from './read-pdf.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* Who may open the portal, and the effects of its forms. Browser tests cover the appearance of its pages. */

let stack: TestStack
let tenant: Tenant
let productRef: string
let planRef: string

beforeAll(async () => {
  stack = await startTestStack({
    settings: { TOLLGATE_HOSTED_URL: 'https://pay.example/billing/' },
  })
  tenant = await stack.createTenant()
  productRef = (await call<ProductBody>('POST', '/v1/sdk/products', { name: 'API' })).reference
  const plan = { name: 'Free', type: 'recurring', price: 0, limit: 10 }
  planRef = (await call<PlanBody>('POST', `/v1/sdk/products/${productRef}/plans`, plan)).reference
})
afterAll(() => stack.stop())
beforeEach(() => stack.clock.set('2026-03-01T00:00:00Z'))

async function call<Body>(method: string, path: string, body?: unknown): Promise<Body> {
  const answer = await stack.call<Body>(tenant.sandboxKey, method, path, body)
  expect(answer.status).toBeLessThan(300)
  return answer.body
}

let customers = 0

async function createCustomer(): Promise<{ customerRef: string; purchaseRef: string }> {
  const email = `customer${customers++}@example.com`
  const { reference } = await call<CustomerBody>('POST', '/v1/sdk/customers', { email })
  const of = { customerRef: reference, productRef, planRef }
  const { purchaseRef } = await call<{ purchaseRef: string }>('POST', '/v1/sdk/activate', of)
  return { customerRef: reference, purchaseRef }
}

async function createLink(customerRef: string): Promise<string> {
  const path = '/v1/sdk/customers/customer-sessions'
  return (await call<{ sessionId: string }>('POST', path, { customerRef })).sessionId
}

type Opened = { readonly status: number; readonly path: string; readonly cookie: string }

function post(path: string, fields: Record<string, string>, cookie = ''): Promise<Response> {
  const body = new URLSearchParams(fields)
  return stack.fetch(path, { method: 'POST', body, headers: { cookie }, redirect: 'manual' })
}

async function open(sessionId: string): Promise<Opened> {
  const answer = await post('/customer/manage', { id: sessionId })
  const [cookie = ''] = answer.headers.get('set-cookie')?.split(';') ?? []
  const path = (answer.headers.get('location') ?? '').replace(/^\/billing/, '')
  return { status: answer.status, path, cookie }
}

function get({ path, cookie }: Opened, below = ''): Promise<Response> {
  return stack.fetch(path + below, { headers: { cookie }, redirect: 'manual' })
}

async function formTokenOf(opened: Opened): Promise<string> {
  const text = await (await get(opened)).text()
  return /name="formToken" value="([^"]+)"/.exec(text)?.[1] ?? ''
}

describe('the link', () => {
  test('opens the portal for one of several concurrent requests', async () => {
    const { customerRef } = await createCustomer()
    const sessionId = await createLink(customerRef)
    const opened = await Promise.all(Array.from({ length: 20 }, () => open(sessionId)))
    expect(opened.map(({ status }) => status).sort()).toEqual([
      303,
      ...Array.from({ length: 19 }, () => 410),
    ])
  })

  test('is exchanged for a cookie that scripts, other sites and other pages do not get', async () => {
    const { customerRef } = await createCustomer()
    const answer = await post('/customer/manage', { id: await createLink(customerRef) })
    expect(answer.headers.get('location')).toMatch(/^\/billing\/customer\/manage\/[0-9a-f]{20}$/)
    expect(answer.headers.get('set-cookie')).toMatch(
      /^portal_[0-9a-f]{20}=sandbox\.[\w-]{43}; Max-Age=88200; Path=\/billing\/customer\/manage; HttpOnly; Secure; SameSite=Lax$/,
    )
  })

  test('can be viewed any number of times without being used up', async () => {
    const { customerRef } = await createCustomer()
    const sessionId = await createLink(customerRef)
    for (let times = 0; times < 3; times += 1) {
      expect((await stack.fetch(`/customer/manage?id=${sessionId}`)).status).toBe(200)
    }
    expect((await open(sessionId)).status).toBe(303)
    expect((await stack.fetch(`/customer/manage?id=${sessionId}`)).status).toBe(410)
  })
})

describe('an open portal', () => {
  test('closes after 30 minutes', async () => {
    const { customerRef } = await createCustomer()
    const opened = await open(await createLink(customerRef))
    stack.clock.set('2026-03-01T00:29:59Z')
    expect((await get(opened)).status).toBe(200)
    stack.clock.set('2026-03-01T00:30:00Z')
    expect((await get(opened)).status).toBe(401)
  })

  test('still names the provider after it has closed, but not for a forged cookie', async () => {
    await call('PATCH', '/v1/ui/merchant', { name: 'Weather & Co', accentColor: '#ffff00' })
    const { customerRef } = await createCustomer()
    const opened = await open(await createLink(customerRef))
    stack.clock.set('2026-03-01T00:30:00Z')
    const closed = await (await get(opened)).text()
    expect(closed).toContain('You are signed out')
    expect(closed).toContain('Weather &amp; Co')
    expect(closed).toMatch(/\/customer\/files\/accent\/ffff00-[0-9a-f]{12}\.css/)
    expect(closed).not.toContain('customer0')
    expect(closed).not.toContain('@example.com')
    const [name] = opened.cookie.split('=')
    for (const cookie of [`${name}=sandbox.${'A'.repeat(43)}`, `${name}=live.x`, '']) {
      const answer = await get({ ...opened, cookie })
      const neutral = await answer.text()
      expect(answer.status).toBe(401)
      expect(neutral).not.toContain('Weather')
      expect(neutral).not.toContain('/accent/')
    }
    await call('PATCH', '/v1/ui/merchant', { name: null, accentColor: null })
  })

  test('closes when its customer is deleted', async () => {
    const { customerRef } = await createCustomer()
    const opened = await open(await createLink(customerRef))
    await call('DELETE', `/v1/ui/customers/${customerRef}`)
    expect((await get(opened)).status).toBe(401)
  })

  test("responds to other customers' references as to unknown ones", async () => {
    const [one, other] = [await createCustomer(), await createCustomer()]
    const opened = await open(await createLink(one.customerRef))
    expect((await get(opened, `/purchases/${one.purchaseRef}`)).status).toBe(200)
    for (const reference of [other.purchaseRef, 'pur_NONE', '%00', '..%2f']) {
      const answer = await get(opened, `/purchases/${reference}`)
      expect([400, 404], reference).toContain(answer.status)
    }
    const formToken = await formTokenOf(opened)
    const cancel = `${opened.path}/purchases/${other.purchaseRef}/cancel`
    expect((await post(cancel, { formToken }, opened.cookie)).status).toBe(404)
    const theirs = await open(await createLink(other.customerRef))
    expect((await get({ ...theirs, cookie: opened.cookie })).status).toBe(401)
    expect(
      (await get({ ...opened, cookie: opened.cookie.replace('sandbox', 'live') })).status,
    ).toBe(401)
  })

  test('offers the invoices of its customer for download', async () => {
    const [one, other] = [await createCustomer(), await createCustomer()]
    const reference = await issueSample(stack, tenant.sandboxKey, one.customerRef)
    const opened = await open(await createLink(one.customerRef))
    const list = await (await get(opened, '/invoices')).text()
    expect(list).toContain(`/invoices/${reference}"`)
    expect(list).toMatch(/TEST-INV-\d{6}/)
    const document = await get(opened, `/invoices/${reference}`)
    expect([document.status, document.headers.get('content-type')]).toEqual([
      200,
      'application/pdf',
    ])
    expect(document.headers.get('content-disposition')).toMatch(
      /^inline; filename="TEST-INV-\d{6}\.pdf"$/,
    )
    expect((await readPdf(Buffer.from(await document.arrayBuffer()))).title).toContain('TEST-INV-')
    const noteRef = await creditSample(stack, tenant.sandboxKey, reference)
    const notePath = `/invoices/${reference}/credit-notes/${noteRef}`
    expect(await (await get(opened, '/invoices')).text()).toContain(`${notePath}"`)
    const note = await get(opened, notePath)
    expect(note.headers.get('content-disposition')).toBe('inline; filename="TEST-CRN-000001.pdf"')
    expect((await get(opened, `/invoices/${reference}/credit-notes/crn_NONE`)).status).toBe(404)
    const theirs = await open(await createLink(other.customerRef))
    expect((await get(theirs, `/invoices/${reference}`)).status).toBe(404)
    expect((await get(theirs, notePath)).status).toBe(404)
    expect(await (await get(theirs, '/invoices')).text()).toContain('There is no invoice yet.')
  })

  test('shows what the next invoice takes over', async () => {
    const { customerRef } = await createCustomer()
    const opened = await open(await createLink(customerRef))
    expect(await (await get(opened, '/invoices')).text()).not.toContain('pays the next invoice')
    const path = `/v1/ui/invoices/${await issueSample(stack, tenant.sandboxKey, customerRef)}`
    await call('POST', `${path}/outside-payments`, { reason: 'decided' })
    await call('POST', `${path}/refunds`, { reason: 'decided', to: 'balance', amount: 1_250 })
    const shown = await (await get(opened, '/invoices')).text()
    expect(shown).toContain('Your credit of $12.50 pays the next invoice.')
  })

  test('refuses forms of other sites', async () => {
    const { customerRef, purchaseRef } = await createCustomer()
    const opened = await open(await createLink(customerRef))
    const cancel = `${opened.path}/purchases/${purchaseRef}/cancel`
    const other = await open(await createLink(customerRef))
    for (const formToken of ['', 'x', await formTokenOf(other)]) {
      expect((await post(cancel, { formToken }, opened.cookie)).status).toBe(403)
    }
    const still = await call<PurchaseBody>('GET', `/v1/sdk/purchases/${purchaseRef}`)
    expect(still).not.toHaveProperty('cancelledAt')
    const formToken = await formTokenOf(opened)
    expect((await post(cancel, { formToken }, opened.cookie)).status).toBe(303)
    const ended = await call<PurchaseBody>('GET', `/v1/sdk/purchases/${purchaseRef}`)
    expect(ended.cancelledAt).toBe('2026-03-01T00:00:00.000Z')
  })

  test('forbids caching, framing and referrers', async () => {
    const { customerRef } = await createCustomer()
    const opened = await open(await createLink(customerRef))
    const { headers } = await get(opened)
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'content-security-policy':
        "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; " +
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    })
  })

  test('loads the accent colors from a separate stylesheet', async () => {
    const path = accentStylesheetPath('', '#ffff00')
    const { status, headers } = await stack.fetch(path)
    expect([status, headers.get('content-type')]).toEqual([200, 'text/css; charset=utf-8'])
    expect(headers.get('cache-control')).toContain('immutable')
    // A request for another version gets a response, but caches must not store it.
    const other = await stack.fetch(path.replace(/-\w+/, '-000000000000'))
    expect([other.status, other.headers.get('cache-control')]).toEqual([200, 'no-store'])
    for (const file of ['FFFF00-000000000000.css', 'ffff00.css', 'ffff00', 'ffff00;}.css']) {
      const answer = await stack.fetch(`/customer/files/accent/${encodeURIComponent(file)}`)
      expect(answer.status, file).toBe(400)
    }
  })

  test('loads unchanged files under the same address', async () => {
    const { customerRef } = await createCustomer()
    const opened = await open(await createLink(customerRef))
    const text = await (await get(opened)).text()
    const files = [...text.matchAll(/"\/billing(\/customer\/files\/[^"]+)"/g)].map(
      ([, path]) => path!,
    )
    expect(files).toHaveLength(3)
    for (const path of files) {
      const { status, headers } = await stack.fetch(path)
      expect([status, headers.get('cache-control')]).toEqual([
        200,
        'public, max-age=31536000, immutable',
      ])
    }
  })
})

describe('billing details', () => {
  const valid = {
    name: 'Ada Lovelace',
    invoiceEmail: 'bills@example.com',
    country: 'DE',
    isBusiness: 'yes',
    businessName: 'Analytical Engines GmbH',
    taxId: 'de 123456789',
    address: 'Unter den Linden 1\r\n\r\n10117 Berlin',
  }

  test('apply to the next invoice, and change no issued invoice', async () => {
    const { customerRef } = await createCustomer()
    const issue = async (): Promise<string> => {
      const { providerId } = tenant
      const parties = await stack.database
        .in('sandbox')
        .begin((sql) => readParties({ sql, providerId }, customerRef, null, { name: 'Acme' }))
      return issueSample(stack, tenant.sandboxKey, customerRef, undefined, parties)
    }
    const earlier = await issue()
    const opened = await open(await createLink(customerRef))
    const formToken = await formTokenOf(opened)
    const billing = `${opened.path}/payment/billing`
    const saved = await post(billing, { ...valid, formToken }, opened.cookie)
    expect(saved.headers.get('location')).toMatch(/\/payment\?done=billing$/)
    const buyers = await Promise.all([earlier, await issue()].map(buyerOf))
    expect(buyers).toMatchObject([
      { name: null, email: expect.stringMatching(/^customer/) as string },
      {
        name: 'Analytical Engines GmbH',
        email: 'bills@example.com',
        country: 'DE',
        taxId: 'DE123456789',
        address: 'Unter den Linden 1\n10117 Berlin',
      },
    ])
  })

  test.each([
    ['taxId', 'FR12345678901', 'This is not a tax ID of the country.'],
    ['country', '', 'Choose the country that you are in.'],
    ['invoiceEmail', 'nobody', 'Enter an e-mail address'],
    ['address', 'a\nb\nc\nd\ne\nf\ng', 'Enter at most 6 lines and 500 characters.'],
  ])('are refused with %s %j, and shown again', async (field, typed, text) => {
    const { customerRef } = await createCustomer()
    const opened = await open(await createLink(customerRef))
    const form = { ...valid, [field]: typed, formToken: await formTokenOf(opened) }
    const refused = await post(`${opened.path}/payment/billing`, form, opened.cookie)
    const [kept = ''] = refused.headers.get('set-cookie')?.split(';') ?? []
    const location = (refused.headers.get('location') ?? '').replace(/^\/billing/, '')
    const page = await stack.fetch(location, { headers: { cookie: `${opened.cookie}; ${kept}` } })
    const shown = await page.text()
    expect(shown).toContain(text)
    expect(shown).toContain('Analytical Engines GmbH')
    expect(await (await get(opened, '/payment')).text()).not.toContain('Analytical Engines GmbH')
  })

  test("store neither the customer's own name nor a cleared name", async () => {
    const { customerRef } = await createCustomer()
    await call('PATCH', `/v1/sdk/customers/${customerRef}`, { name: 'Ada' })
    const opened = await open(await createLink(customerRef))
    const formToken = await formTokenOf(opened)
    for (const [name, kept] of [
      ['Ada', null],
      ['Lovelace', 'Lovelace'],
      ['', null],
    ] as const) {
      await post(`${opened.path}/payment/billing`, { ...valid, name, formToken }, opened.cookie)
      const [row] = await stack.database.in('sandbox')`
        select customer_name from customer_tax_details where customer_ref = ${customerRef}`
      expect(row?.['customer_name']).toBe(kept)
    }
  })

  async function buyerOf(reference: string): Promise<unknown> {
    const [row] = await stack.database.in('sandbox')<{ parties: { buyer: unknown } }[]>`
      select parties from invoices where reference = ${reference}`
    return row?.parties.buyer
  }
})

describe('automatic top-ups', () => {
  const terms = { enabled: 'yes', currency: 'USD', threshold: '5', topup: '20', monthlyMax: '50' }

  test.each([
    ['monthlyMax', '1.000,50', 'Enter the maximum for a month as an amount such as 1000.50'],
    ['currency', 'x$', 'Credits are not sold in this currency.'],
    ['currency', '\0', 'Credits are not sold in this currency.'],
  ])('are refused with %s %j, and shown again', async (field, typed, text) => {
    const { customerRef } = await createCustomer()
    const opened = await open(await createLink(customerRef))
    const form = { ...terms, [field]: typed, formToken: await formTokenOf(opened) }
    const refused = await post(`${opened.path}/credits/auto-recharge`, form, opened.cookie)
    expect(refused.status).toBe(303)
    const [kept = ''] = refused.headers.get('set-cookie')?.split(';') ?? []
    const location = (refused.headers.get('location') ?? '').replace(/^\/billing/, '')
    const page = await stack.fetch(location, { headers: { cookie: `${opened.cookie}; ${kept}` } })
    expect(page.status).toBe(200)
    expect(await page.text()).toContain(text)
    const saved = await stack.database.in('sandbox')`
      select from auto_recharges where customer_ref = ${customerRef}`
    expect(saved).toEqual([])
  })

  test.each([
    ['monthly_cap_too_low', 'one top-up exceeds the maximum for a month'],
    ['exchange_rate_missing', 'credits are currently not sold in this currency'],
  ])('explain why nothing is bought: %s', async (obstacle, words) => {
    const { customerRef } = await createCustomer()
    await call('PUT', '/v1/sdk/auto-recharge', {
      customerRef,
      enabled: true,
      triggerType: 'balance',
      currency: 'USD',
      thresholdAmountMajor: 5,
      topupAmountMajor: 20,
    })
    const opened = await open(await createLink(customerRef))
    const page = async () => (await get(opened, '/credits')).text()
    const sql = stack.database.in('sandbox')
    await sql`
      update auto_recharges set status = 'active' where customer_ref = ${customerRef}`
    expect(await page()).not.toContain('Nothing is bought')
    await sql`
      update auto_recharges set obstacle = ${obstacle} where customer_ref = ${customerRef}`
    expect(await page()).toContain(words)
  })
})
