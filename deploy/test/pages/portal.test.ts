import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import type { TollgateClient } from '../../src/client/tollgate-client.ts'
import { createManualClock, type ManualClock } from '../manual-clock.ts'
import { startStack, type Stack } from '../stack.ts'
import { launchChromium } from './chromium.ts'
import { createVisitor, type Visitor } from './visitor.ts'

/* The customer portal in a real browser with all services. */

const start = '2026-03-20T12:00:00Z'
const logo = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)

let clock: ManualClock
let stack: Stack
let browser: Browser
let client: TollgateClient
let secretKey: string
let productRef: string
let customerRef: string
let purchaseRef: string
/** A customer who pays for usage of a second product afterwards. */
let payerRef: string
let mapsRef: string

beforeAll(async () => {
  clock = createManualClock('2026-03-09T12:00:00Z')
  ;[stack, browser] = await Promise.all([startStack({ clock }), launchChromium()])
  const provider = await stack.createProvider()
  client = provider.sandbox
  secretKey = provider.keys.sandbox
  await post('PATCH', '/v1/ui/merchant', {
    legalName: 'Weatherly Data Ltd',
    supportEmail: 'help@weatherly.example',
    termsUrl: 'https://weatherly.example/terms',
    privacyUrl: 'https://weatherly.example/privacy',
    supportedTopupCurrencies: ['EUR'],
  })
  productRef = (await client.createProduct({ name: 'Weather API' })).reference
  const plan = await client.createPlan(productRef, {
    name: 'Starter',
    type: 'recurring',
    billingCycle: 'monthly',
    price: 0,
    limit: 1_000,
  })
  customerRef = (await client.createCustomer({ email: 'ada@example.com', name: 'Ada Lovelace' }))
    .reference
  const activated = await post('POST', '/v1/sdk/activate', {
    customerRef,
    productRef,
    planRef: plan.reference,
  })
  purchaseRef = activated['purchaseRef'] as string
  payerRef = await createPayer()
  for (let day = 9; day <= 19; day += 1) {
    const at = `2026-03-${String(day).padStart(2, '0')}T12:00:00Z`
    clock.set(at)
    await client.recordUsages([
      { customerRef: payerRef, productRef: mapsRef, units: 10, timestamp: at },
    ])
    await client.recordUsages(
      Array.from({ length: 3 }, (_, index) => ({
        customerRef,
        productRef,
        units: (day * 7 * (index + 1)) % 41,
        timestamp: at,
      })),
    )
  }
  await post('POST', `/v1/sdk/customers/${customerRef}/credits`, {
    credits: 250_000,
    reason: 'Welcome gift',
  })
  clock.set(start)
  await post('POST', '/v1/sdk/meter-events', {
    customerRef: payerRef,
    productRef: mapsRef,
    meterName: 'tiles',
    value: 2_500,
  })
  for (let index = 0; index < 25; index += 1) {
    await post('POST', `/v1/sdk/customers/${customerRef}/credits`, { credits: 100 + index })
  }
})

afterAll(async () => {
  await browser.close()
  await stack.stop()
})

async function post(method: string, path: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await client.send(method, path, body)
  expect([path, answer.status, answer.body]).toEqual([
    path,
    expect.toSatisfy((status: number) => status < 300),
    expect.anything(),
  ])
  return answer.body as Record<string, unknown>
}

/** Creates a customer on a weekly plan that begins now. A request costs 1 cent. */
async function createPayer(): Promise<string> {
  mapsRef = (await client.createProduct({ name: 'Maps API' })).reference
  const plan = await client.createPlan(mapsRef, {
    name: 'Weekly',
    type: 'usage-based',
    billingModel: 'post-paid',
    billingCycle: 'weekly',
    creditsPerUnit: 100,
    limit: 100,
    rolloverUnusedUnits: true,
  })
  await post('POST', '/v1/ui/meters', { name: 'tiles', displayName: 'Map tiles' })
  const { reference } = await client.createCustomer({ email: 'grace@example.com', name: 'Grace' })
  const planRef = plan.reference
  await post('POST', '/v1/sdk/activate', { customerRef: reference, productRef: mapsRef, planRef })
  return reference
}

/** Returns a portal link that the browser can reach, whatever the public URL of the installation is. */
async function portalLink(of: Record<string, unknown> = {}): Promise<string> {
  const given = { customerRef, ...of }
  const { customerUrl } = await post('POST', '/v1/sdk/customers/customer-sessions', given)
  const { pathname, search } = new URL(customerUrl as string)
  return stack.baseUrl + pathname + search
}

async function openPortal(visitor: Visitor, of = {}, title = 'Your plans'): Promise<string> {
  const link = await portalLink(of)
  await visitor.page.goto(link)
  await visitor.page.getByRole('heading', { name: title }).waitFor()
  return link
}

test('offers all plans to a customer without a plan', async () => {
  const { reference } = await client.createCustomer({ email: 'new@example.com', name: 'Newcomer' })
  const visitor = await createVisitor(browser)
  const { page } = visitor
  await page.goto(await portalLink({ customerRef: reference }))
  await page.getByRole('region', { name: 'Plans of Maps API' }).waitFor()
  const weather = page.getByRole('region', { name: 'Plans of Weather API' })
  await visitor.inspect('portal-no-plan')
  await weather.getByRole('button', { name: 'See the plans' }).click()
  await page.getByRole('link', { name: 'Choose Starter' }).click()
  await page.getByRole('button', { name: 'Start now' }).click()
  await page.getByRole('heading', { name: 'Done' }).waitFor()
  await page.goto(await portalLink({ customerRef: reference }))
  await page.getByRole('article', { name: 'Weather API' }).waitFor()
  await expect(page.getByText('Choose a plan for').count()).resolves.toBe(0)
  await visitor.close()
})

test('names a contact to a customer without any offered plan', async () => {
  const { sandbox } = await stack.createProvider()
  await sandbox.send('PATCH', '/v1/ui/merchant', { supportEmail: 'help@empty.example' })
  await sandbox.createProduct({ name: 'Without plans' })
  const { reference } = await sandbox.createCustomer({ email: 'new@example.com', name: 'Newcomer' })
  const path = '/v1/sdk/customers/customer-sessions'
  const { body } = await sandbox.send('POST', path, { customerRef: reference })
  const { pathname, search } = new URL((body as { customerUrl: string }).customerUrl)
  const visitor = await createVisitor(browser)
  await visitor.page.goto(stack.baseUrl + pathname + search)
  const told = visitor.page.getByRole('region', { name: 'No plan' })
  await told.getByRole('link', { name: 'help@empty.example' }).waitFor()
  await visitor.inspect('portal-nothing-offered')
  await visitor.close()
})

describe('the link', () => {
  test('opens the portal once, and disappears from the address bar', async () => {
    const [ada, eve] = [await createVisitor(browser), await createVisitor(browser)]
    const link = await openPortal(ada)
    expect(ada.page.url()).toMatch(/\/customer\/manage\/[0-9a-f]{20}$/)
    await eve.page.goto(link)
    await eve.page.getByRole('heading', { name: 'This link was already used' }).waitFor()
    await eve.inspect('portal-link-used')
    await eve.page.goto(ada.page.url())
    await eve.page.getByRole('heading', { name: 'You are signed out' }).waitFor()
    await ada.page.goto(link)
    await ada.page.getByRole('heading', { name: 'Your plans' }).waitFor()
    await ada.close()
    await eve.close()
  })

  test('waits for a click of clients without scripts and of link scanners', async () => {
    const visitor = await createVisitor(browser, { javaScriptEnabled: false })
    const link = await portalLink()
    for (const method of ['GET', 'HEAD']) expect((await fetch(link, { method })).status).toBe(200)
    await visitor.page.goto(link)
    await visitor.page.getByRole('button', { name: 'Continue' }).click()
    await visitor.page.getByRole('heading', { name: 'Your plans' }).waitFor()
    await visitor.close()
  })

  test('expires after 15 minutes', async () => {
    const link = await portalLink()
    clock.set('2026-03-20T12:15:00Z')
    const visitor = await createVisitor(browser)
    await visitor.page.goto(link)
    await visitor.page.getByRole('heading', { name: 'This link has expired' }).waitFor()
    await visitor.inspect('portal-link-expired')
    clock.set(start)
    await visitor.close()
  })

  test.each(['', '?id=', '?id=0123', `?id=${'f'.repeat(32)}`, '?id[]=1', '/0123', '/0123/credits'])(
    'opens nothing if it was never issued: %j',
    async (query) => {
      const answer = await fetch(`${stack.baseUrl}/customer/manage${query}`)
      expect([401, 404]).toContain(answer.status)
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(await answer.text()).toMatch(/This link is not valid|You are signed out/)
    },
  )
})

test('shows carried-over units, the cost of usage so far, and every meter of a plan', async () => {
  const visitor = await createVisitor(browser)
  const { page } = visitor
  await page.goto(await portalLink({ customerRef: payerRef }))
  const card = page.getByRole('article', { name: 'Maps API' })
  // 7 days of the previous week and 4 days of this one.
  await expect
    .poll(() => card.innerText(), { timeout: 30_000 })
    .toMatch(/40 of 130 requests · 30 carried over · until Mar 23, 2026/)
  await expect(card.innerText()).resolves.toMatch(/costs \$0\.40 so far, without tax/)
  await page.getByRole('link', { name: 'Maps API' }).click()
  await page.getByRole('img', { name: 'Requests: 40 in all' }).waitFor()
  await page.getByRole('img', { name: 'Map tiles: 2,500 in all' }).waitFor()
  await visitor.inspect('portal-carried-over')
  await visitor.close()
})

describe('the portal', () => {
  let visitor: Visitor

  beforeAll(async () => {
    visitor = await createVisitor(browser)
    await openPortal(visitor)
  })
  afterAll(() => visitor.close())

  test("shows the customer's plan and usage", async () => {
    const card = visitor.page.getByRole('article', { name: 'Weather API' })
    await expect(card.innerText()).resolves.toMatch(/Starter[^]*Active[^]*Free[^]*Apr 9, 2026/)
    await expect(card.innerText()).resolves.toMatch(/\d+ of 1,000 requests/)
    await visitor.inspect('portal-plans')
  })

  test('shows usage as a chart and as a table', async () => {
    await visitor.page.getByRole('link', { name: 'Weather API' }).click()
    await visitor.page.getByRole('img', { name: /Requests: \d/ }).waitFor()
    await visitor.page.getByText('Show as a table').click()
    await visitor.page.getByRole('cell', { name: 'Mar 19, 2026' }).waitFor()
    await visitor.inspect('portal-purchase')
  })

  test('cancels a plan after explaining the consequences, and reactivates it', async () => {
    const { page } = visitor
    await page.getByRole('link', { name: 'Cancel plan' }).click()
    await page.getByText('You can use it until Apr 9, 2026.').waitFor()
    await visitor.inspect('portal-cancel')
    await page.getByLabel('Why are you leaving?').fill('Too <b>windy</b>')
    await page.getByRole('button', { name: 'Cancel plan' }).click()
    await page.getByText('Your plan is cancelled.').waitFor()
    await page.getByText('Too <b>windy</b>').waitFor()
    await visitor.inspect('portal-cancelled')
    const { body } = await client.send('GET', `/v1/sdk/purchases/${purchaseRef}`)
    expect(body).toMatchObject({
      status: 'active',
      cancellationReason: 'Too <b>windy</b>',
      endDate: '2026-04-09T12:00:00.000Z',
    })
    await page.getByRole('button', { name: 'Keep this plan' }).click()
    await page.getByText('Your plan continues as before.').waitFor()
    const again = await client.send('GET', `/v1/sdk/purchases/${purchaseRef}`)
    expect(again.body).not.toHaveProperty('cancelledAt')
  })

  test('records the customer in the audit log', async () => {
    const { body } = await client.send('GET', `/v1/ui/audit-log?reference=${purchaseRef}`)
    const { entries } = body as { entries: { actor: string; operation: string }[] }
    expect(entries.map(({ actor, operation }) => `${actor} ${operation}`)).toEqual(
      expect.arrayContaining([
        `customer:${customerRef} POST /customer/manage/:handle/purchases/:purchaseRef/cancel`,
        `customer:${customerRef} POST /customer/manage/:handle/purchases/:purchaseRef/reactivate`,
      ]),
    )
  })

  test('shows credits and their movements', async () => {
    const { page } = visitor
    await page.getByRole('link', { name: 'Credits' }).click()
    await page.getByText('252,800 credits').waitFor()
    await page.getByText('worth $25.28').waitFor()
    await visitor.inspect('portal-credits')
    await page.getByRole('link', { name: 'Older' }).click()
    await page.getByText('Welcome gift').waitFor()
    await page.getByText('Page 2 of 2').waitFor()
  })

  test('stores the terms of automatic top-up, and says why it is not active', async () => {
    const { page } = visitor
    await page.getByRole('link', { name: 'Credits' }).click()
    await page.getByLabel('When the balance falls below').fill('20')
    await page.getByLabel('Buy credits for').fill('10')
    await page.getByRole('button', { name: 'Turn on' }).click()
    const alert = page.getByRole('alert')
    await expect(alert.innerText()).resolves.toMatch(
      'The amount to buy for must not be less than the balance to watch.',
    )
    await visitor.inspect('portal-credits-refused')
    await expect(page.getByLabel('Buy credits for').inputValue()).resolves.toBe('10')
    await page.getByLabel('Buy credits for').fill('25,50')
    await page.getByLabel('At most in a month, with tax').fill('100')
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.getByText('Automatic top-up is saved.').waitFor()
    await page.getByText('Waiting for a card').waitFor()
    const { body } = await client.send('GET', `/v1/sdk/auto-recharge?customerRef=${customerRef}`)
    expect(body).toMatchObject({
      config: {
        status: 'pending_setup',
        topup: { amountMinor: 2_550, currency: 'USD' },
        trigger: { thresholdAmountMinor: 2_000 },
        maxMonthlySpendMinor: 10_000,
      },
    })
    await page.getByRole('button', { name: 'Turn off' }).click()
    await page.getByText('Automatic top-up is saved.').waitFor()
  })

  test('shows that no card is saved', async () => {
    await visitor.page.getByRole('link', { name: 'Payment' }).click()
    await visitor.page.getByText('No card is saved.').waitFor()
    await visitor.inspect('portal-payment')
  })

  test('shows that there are no invoices', async () => {
    await visitor.page.getByRole('link', { name: 'Invoices' }).click()
    await visitor.page.getByText('There is no invoice yet.').waitFor()
    await visitor.inspect('portal-invoices')
  })

  test("is in the browser's language, including numbers and dates", async () => {
    const german = await createVisitor(browser, { locale: 'de-DE' })
    await openPortal(german, {}, 'Ihre Tarife')
    await german.page.getByText('09.04.2026').first().waitFor()
    await german.page.getByRole('link', { name: 'Credits' }).click()
    await german.page.getByText('252.800 Credits').waitFor()
    await german.inspect('portal-credits-german')
    await german.close()
  })

  test("is in the session's language, as is the checkout that it opens", async () => {
    const japanese = await createVisitor(browser)
    await openPortal(japanese, { locale: 'ja' }, 'ご利用中のプラン')
    await japanese.page.getByRole('button', { name: 'プランを変更' }).click()
    await expect(japanese.page.locator('html').getAttribute('lang')).resolves.toBe('ja')
    await japanese.close()
  })

  test('shows the provider’s logo', async () => {
    const headers = { 'content-type': 'image/png', authorization: `Bearer ${secretKey}` }
    const answer = await fetch(`${stack.baseUrl}/v1/ui/merchant/logo`, {
      method: 'PUT',
      headers,
      body: logo,
    })
    expect(answer.status).toBe(200)
    await visitor.page.reload()
    await visitor.page.getByRole('img', { name: 'Test', exact: true }).waitFor()
    const width = "document.querySelector('header img').naturalWidth"
    await expect(visitor.page.evaluate(width)).resolves.toBe(1)
  })

  test.each(['#ffff00', '#000000'])('is readable with the accent color %s', async (color) => {
    await post('PATCH', '/v1/ui/merchant', { accentColor: color })
    const { page } = visitor
    await page.reload()
    const accent = "getComputedStyle(document.body).getPropertyValue('--accent')"
    await expect(page.evaluate(accent)).resolves.toBe(color)
    await visitor.inspect(`portal-accent-${color.slice(1)}`)
    await post('PATCH', '/v1/ui/merchant', { accentColor: null })
  })

  test('ends after signing out', async () => {
    const { page } = visitor
    const address = page.url()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You can close this window.').waitFor()
    await visitor.inspect('portal-signed-out')
    await page.goto(address)
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor()
    await page.getByRole('img', { name: 'Test', exact: true }).waitFor()
  })
})
