import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import type { TollgateClient } from '../../src/client/tollgate-client.ts'
import { createManualClock, type ManualClock } from '../manual-clock.ts'
import { createCustomer } from '../offers.ts'
import { startStack, type Stack } from '../stack.ts'
import { launchChromium } from './chromium.ts'
import { createVisitor, type Visitor } from './visitor.ts'

/* Checkout and the API documentation, in a real browser with all services. */

const start = '2026-03-20T12:00:00Z'

let clock: ManualClock
let stack: Stack
let browser: Browser
let client: TollgateClient
let productRef: string

beforeAll(async () => {
  clock = createManualClock(start)
  ;[stack, browser] = await Promise.all([startStack({ clock }), launchChromium()])
  client = (await stack.createProvider()).sandbox
  await send('PATCH', '/v1/ui/merchant', {
    supportEmail: 'help@weatherly.example',
    supportedTopupCurrencies: ['EUR'],
  })
  const product = {
    name: 'Weather API',
    description: 'Forecasts for every place on earth, hour by hour.',
  }
  productRef = (await client.createProduct(product)).reference
  await client.createPlan(productRef, {
    name: 'Free',
    type: 'recurring',
    billingCycle: 'monthly',
    price: 0,
    limit: 100,
  })
  await client.createPlan(productRef, {
    name: 'Pay as you go',
    type: 'usage-based',
    creditsPerUnit: 25,
  })
  await client.createPlan(productRef, {
    name: 'Professional',
    type: 'recurring',
    billingCycle: 'monthly',
    currency: 'USD',
    price: 4_900,
    setupFee: 1_000,
    limit: 50_000,
    pricingOptions: [
      { currency: 'USD', price: 4_900, setupFee: 1_000, default: true },
      { currency: 'EUR', price: 4_500, setupFee: 900 },
    ],
  })
  await client.createPlan(productRef, {
    name: 'Team',
    type: 'recurring',
    billingCycle: 'monthly',
    price: 9_900,
    trialDays: 14,
  })
  await client.createPlan(productRef, {
    name: 'Secret',
    type: 'recurring',
    price: 0,
    hidden: true,
  })
})

afterAll(async () => {
  await browser.close()
  await stack.stop()
})

async function send(method: string, path: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await client.send(method, path, body)
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
  return answer.body as Record<string, unknown>
}

async function checkoutLink(of: Record<string, unknown>): Promise<string> {
  const { checkoutUrl } = await send('POST', '/v1/sdk/checkout-sessions', of)
  const { pathname, search } = new URL(checkoutUrl as string)
  return stack.baseUrl + pathname + search
}

async function purchasesOf(customerRef: string): Promise<Record<string, unknown>[]> {
  const { body } = await client.send('GET', `/v1/sdk/purchases/customer/${customerRef}`)
  return (body as { purchases: Record<string, unknown>[] }).purchases
}

async function eventsOf(type: string): Promise<readonly Record<string, unknown>[]> {
  const { body } = await client.send('GET', `/v1/ui/events?type=${type}&limit=100`)
  return (body as { events: Record<string, unknown>[] }).events
}

describe('choosing a plan', () => {
  let visitor: Visitor
  let customerRef: string

  beforeAll(async () => {
    visitor = await createVisitor(browser)
    customerRef = await createCustomer(client)
  })
  afterAll(() => visitor.close())

  test('shows the offered plans, and nothing else', async () => {
    const { page } = visitor
    await page.goto(
      await checkoutLink({ customerRef, productRef, returnUrl: 'https://app.example/back' }),
    )
    expect(page.url()).toMatch(/\/customer\/checkout\/cs_[A-Z0-9]+$/)
    const names = await page.getByRole('heading', { level: 2 }).allInnerTexts()
    expect(names).toEqual(['Free', 'Pay as you go', 'Professional', 'Team'])
    const professional = page.getByRole('article', { name: 'Professional' })
    // The price is directly below the name, and no plan shows its name as its price.
    await expect(professional.innerText()).resolves.toMatch(/^Professional\s+\$49\.00 \/ month/)
    const free = await page.getByRole('article', { name: 'Free' }).innerText()
    expect(free).toMatch(/^Free\s+\$0\.00/)
    expect(free).not.toContain('Renews')
    await expect(page.getByText('Also in').count()).resolves.toBe(0)
    const heights = await page.evaluate<number[]>(heightsOfPlans)
    expect(new Set(heights).size).toBe(1)
    await page.getByRole('link', { name: 'EUR' }).click()
    await expect(professional.innerText()).resolves.toMatch(/€45\.00[^]*Setup fee €9\.00 \(once\)/)
    await page.getByRole('link', { name: 'USD' }).click()
    await expect(professional.innerText()).resolves.toMatch(
      /\$49\.00 \/ month[^]*Up to 50,000 requests[^]*Setup fee \$10\.00 \(once\)/,
    )
    await visitor.inspect('checkout-plans')
  })

  test('starts a free plan at once, and emits its events', async () => {
    const { page } = visitor
    await page.getByRole('link', { name: 'Choose Free' }).click()
    await page.getByRole('heading', { name: 'Free' }).waitFor()
    await visitor.inspect('checkout-free')
    await page.getByRole('button', { name: 'Start now' }).click()
    await page.getByRole('heading', { name: 'Free is active' }).waitFor()
    await page.getByText('You can use Weather API right away.').waitFor()
    await expect(page.getByText('Next charge').count()).resolves.toBe(0)
    await visitor.inspect('checkout-done')
    const link = page.getByRole('link', { name: 'Back to Test' })
    await expect(link.getAttribute('href')).resolves.toBe('https://app.example/back')
    expect(await purchasesOf(customerRef)).toMatchObject([
      { status: 'active', planSnapshot: { name: 'Free' } },
    ])
    expect(await eventsOf('checkout_session.completed')).toHaveLength(1)
    await page.reload()
    await page.getByRole('heading', { name: 'Done' }).waitFor()
  })

  test('replaces it with another plan', async () => {
    const { page } = visitor
    await page.goto(await checkoutLink({ customerRef, productRef }))
    await page.getByText('Your plan', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Choose Pay as you go' }).click()
    await page.getByText('This replaces Free today.').waitFor()
    await page.getByText('paid from your credits').waitFor()
    await visitor.inspect('checkout-switch')
    await page.getByRole('button', { name: 'Start now' }).click()
    await page.getByRole('heading', { name: 'Add credits to start' }).waitFor()
    await page.getByRole('button', { name: 'Add credits' }).waitFor()
    await visitor.inspect('checkout-done-without-credits')
    const purchases = await purchasesOf(customerRef)
    expect(purchases.map(({ status }) => status).sort()).toEqual(['active', 'expired'])
  })
})

const heightsOfPlans = `[...document.querySelectorAll('.plan-grid > article')]
  .map((plan) => Math.round(plan.getBoundingClientRect().height))`

describe('the link', () => {
  test('can be opened repeatedly until the checkout is completed or expires', async () => {
    const link = await checkoutLink({ customerRef: await createCustomer(client), productRef })
    for (let times = 0; times < 2; times += 1) {
      const visitor = await createVisitor(browser, { javaScriptEnabled: false })
      await visitor.page.goto(link)
      await visitor.page.getByRole('link', { name: 'Choose Free' }).click()
      await visitor.page.getByRole('button', { name: 'Start now' }).waitFor()
      if (times === 1) {
        await visitor.page.getByRole('button', { name: 'Start now' }).click()
        await visitor.page.getByRole('heading', { name: 'Done' }).waitFor()
      }
      await visitor.close()
    }
    const late = await createVisitor(browser)
    await late.page.goto(link)
    await late.page.getByRole('heading', { name: /^This .*already/ }).waitFor()
    const other = await checkoutLink({ customerRef: await createCustomer(client), productRef })
    await late.page.goto(other)
    await late.page.getByRole('link', { name: 'Choose Free' }).waitFor()
    clock.set('2026-03-20T12:15:00Z')
    await late.page.getByRole('link', { name: 'Choose Free' }).click()
    await late.page.getByRole('heading', { name: 'This link has expired' }).waitFor()
    clock.set(start)
    await late.close()
  })

  test('shows the same page after a double click', async () => {
    const customerRef = await createCustomer(client)
    const visitor = await createVisitor(browser)
    await visitor.page.goto(await checkoutLink({ customerRef, productRef }))
    await visitor.page.getByRole('link', { name: 'Choose Free' }).click()
    await visitor.page.getByRole('button', { name: 'Start now' }).dblclick()
    await visitor.page.getByRole('heading', { name: 'Done' }).waitFor()
    expect(await purchasesOf(customerRef)).toHaveLength(1)
    await visitor.close()
  })
})

test('starts a trial once, without a card', async () => {
  const customerRef = await createCustomer(client)
  const visitor = await createVisitor(browser)
  const { page } = visitor
  await page.goto(await checkoutLink({ customerRef, productRef }))
  await page.getByRole('link', { name: 'Choose Team' }).click()
  await page.getByText('Nothing is charged today. $99.00 is due on Apr 3, 2026').waitFor()
  await visitor.inspect('checkout-trial')
  await page.getByRole('button', { name: 'Start the free trial' }).click()
  await page.getByRole('heading', { name: 'Your trial of Team has started' }).waitFor()
  await page.getByText('$99.00 on Apr 3, 2026').waitFor()
  await visitor.inspect('checkout-done-trial')
  expect(await purchasesOf(customerRef)).toMatchObject([
    { status: 'trialing', amount: 0, nextBillingDate: '2026-04-03T12:00:00.000Z' },
  ])
  await page.goto(await checkoutLink({ customerRef, productRef }))
  await page.getByRole('link', { name: 'Choose Free' }).click()
  await page.getByRole('button', { name: 'Start now' }).click()
  await page.goto(await checkoutLink({ customerRef, productRef }))
  await page.getByRole('link', { name: 'Choose Team' }).click()
  // This installation has no payment processor, so no card can be entered.
  await page.getByRole('heading', { name: 'Payments are not possible here yet' }).waitFor()
  await visitor.close()
})

test('keeps two customers in one browser apart', async () => {
  const visitor = await createVisitor(browser)
  const [one, other] = [await createCustomer(client), await createCustomer(client)]
  await visitor.page.goto(await checkoutLink({ customerRef: one, productRef }))
  await visitor.page.getByRole('link', { name: 'Choose Free' }).click()
  const second = await visitor.page.context().newPage()
  await second.goto(await checkoutLink({ customerRef: other, productRef }))
  await visitor.page.getByRole('button', { name: 'Start now' }).click()
  await visitor.page.getByRole('heading', { name: 'Done' }).waitFor()
  expect([await purchasesOf(one), await purchasesOf(other)]).toMatchObject([
    [{ status: 'active' }],
    [],
  ])
  await visitor.close()
})

test('lets a keyboard user read, search and copy the documentation', async () => {
  const visitor = await createVisitor(browser, {
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const { page } = visitor
  await page.goto(`${stack.baseUrl}/docs`)
  await page.getByRole('heading', { name: 'Getting started' }).waitFor()
  await visitor.inspect('docs-guide')
  await page.getByRole('searchbox', { name: 'Search the documentation' }).fill('hold units')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Check whether a call is within the limits' }).waitFor()
  await visitor.inspect('docs-search')
  await page.getByRole('link', { name: 'Check whether a call is within the limits' }).focus()
  await page.keyboard.press('Enter')
  const operation = page.getByRole('region', { name: 'Check whether a call is within the limits' })
  await operation.getByText('Python').focus()
  await page.keyboard.press('Enter')
  await operation.getByRole('button', { name: 'Copy: Python' }).focus()
  await page.keyboard.press('Enter')
  await operation.getByText('Copied').waitFor()
  const copied = await page.evaluate<string>('navigator.clipboard.readText()')
  expect(copied).toContain('requests.post(')
  await visitor.inspect('docs-operation')
  for (const [link, name] of [
    ['Error codes', 'docs-errors'],
    ['Plans', 'docs-plans'],
    ['Webhook events', 'docs-events'],
  ] as const) {
    await page.getByRole('link', { name: link, exact: true }).click()
    await page.getByRole('heading', { name: link, level: 1 }).waitFor()
    await visitor.inspect(name)
  }
  await visitor.close()
})
