import { createServer, type AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Browser, Page } from 'playwright-core'
import type { TollgateClient } from '../../src/client/tollgate-client.ts'
import { startSimulator, type Simulator } from '../../src/stripe-simulator/simulator.ts'
import { createCustomer } from '../offers.ts'
import { startStack, type Stack } from '../stack.ts'
import { launchChromium } from './chromium.ts'
import { createVisitor } from './visitor.ts'

/* Paying at checkout in a real browser: on all services, with the simulator of Stripe and its cards. */

let simulator: Simulator
let stack: Stack
let browser: Browser
let client: TollgateClient
let productRef: string
let planRef: string

beforeAll(async () => {
  simulator = await startSimulator()
  // The bank's page leads back to the public address, so that has to be known beforehand.
  const port = await freePort()
  const settings = {
    TOLLGATE_PORT: String(port),
    TOLLGATE_HOSTED_URL: `http://127.0.0.1:${port}`,
    TOLLGATE_STRIPE_SANDBOX_URL: simulator.url,
    TOLLGATE_STRIPE_SANDBOX_SECRET_KEY: 'sk_test_pages',
    TOLLGATE_STRIPE_SANDBOX_PUBLISHABLE_KEY: 'pk_test_pages',
  }
  ;[stack, browser] = await Promise.all([startStack({ settings }), launchChromium()])
  client = (await stack.createProvider()).sandbox
  await send('PATCH', '/v1/ui/merchant', { supportedTopupCurrencies: ['EUR'] })
  productRef = (await client.createProduct({ name: 'Weather API' })).reference
  planRef = (
    await client.createPlan(productRef, {
      name: 'Professional',
      type: 'recurring',
      billingCycle: 'monthly',
      price: 4_900,
      setupFee: 1_000,
      pricingOptions: [
        { currency: 'USD', price: 4_900, setupFee: 1_000, default: true },
        { currency: 'EUR', price: 4_500, setupFee: 900 },
      ],
    })
  ).reference
})

afterAll(async () => {
  await browser.close()
  await stack.stop()
  await simulator.stop()
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function send(method: string, path: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await client.send(method, path, body)
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
  return answer.body as Record<string, unknown>
}

async function checkoutLink(of: Record<string, unknown>): Promise<string> {
  return (await send('POST', '/v1/sdk/checkout-sessions', of))['checkoutUrl'] as string
}

async function purchasesOf(customerRef: string): Promise<Record<string, unknown>[]> {
  const { body } = await client.send('GET', `/v1/sdk/purchases/customer/${customerRef}`)
  return (body as { purchases: Record<string, unknown>[] }).purchases
}

async function payWith(page: Page, number: string): Promise<void> {
  await page.getByRole('button', { name: 'Enter card' }).click()
  await page.getByLabel('Card number').fill(number)
  await page.getByRole('button', { name: 'Pay' }).click()
}

describe('a plan', () => {
  test('is paid by card, set-up fee included', async () => {
    const customerRef = await createCustomer(client)
    const visitor = await createVisitor(browser)
    const { page } = visitor
    await page.goto(await checkoutLink({ customerRef, productRef, planRef }))
    const due = page.getByRole('region', { name: 'What is due' })
    await expect(due.innerText()).resolves.toMatch(/\$49\.00[^]*\$10\.00[^]*Due today[^]*\$59\.00/)
    await visitor.inspect('checkout-due')
    await page.getByRole('button', { name: 'Continue to payment' }).click()
    await page.getByRole('heading', { name: 'Pay $59.00' }).waitFor()
    await visitor.inspect('checkout-payment')
    await payWith(page, '4242424242424242')
    await page.getByRole('heading', { name: 'Done' }).waitFor()
    expect(await purchasesOf(customerRef)).toMatchObject([
      { status: 'active', amount: 5_900, originalAmount: 5_900, currency: 'USD' },
    ])
    await visitor.close()
  })

  test('is paid in another currency it is sold in', async () => {
    const customerRef = await createCustomer(client)
    const visitor = await createVisitor(browser, { locale: 'de-DE' })
    const { page } = visitor
    await page.goto(await checkoutLink({ customerRef, productRef, planRef }))
    await page.getByRole('link', { name: 'EUR' }).click()
    await page.getByText('54,00 €').waitFor()
    await page.getByRole('button', { name: 'Continue to payment' }).click()
    await payWith(page, '5555555555554444')
    await page.getByRole('heading', { name: 'Done' }).waitFor()
    expect(await purchasesOf(customerRef)).toMatchObject([
      { originalAmount: 5_400, currency: 'EUR', status: 'active' },
    ])
    await visitor.close()
  })

  test('is not given for a card that is declined, and is for the next one', async () => {
    const customerRef = await createCustomer(client)
    const visitor = await createVisitor(browser)
    const { page } = visitor
    await page.goto(await checkoutLink({ customerRef, productRef, planRef }))
    await page.getByRole('button', { name: 'Continue to payment' }).click()
    const payment = page.url()
    await payWith(page, '4000000000000002')
    await page.getByText('Your card was declined.').waitFor()
    await page.goto(payment.replace('/pay/', '/paid/'))
    await page.getByRole('alert').getByText('did not go through').waitFor()
    await visitor.inspect('checkout-declined')
    expect(await purchasesOf(customerRef)).toEqual([])
    await payWith(page, '4242424242424242')
    await page.getByRole('heading', { name: 'Done' }).waitFor()
    expect(await purchasesOf(customerRef)).toHaveLength(1)
    await visitor.close()
  })

  test.each([
    ['Yes, it is me', 'Done', 1],
    ['No', 'Pay $59.00', 0],
  ])('waits for the bank, whose customer says: %s', async (answer, heading, purchases) => {
    const customerRef = await createCustomer(client)
    const visitor = await createVisitor(browser)
    const { page } = visitor
    await page.goto(await checkoutLink({ customerRef, productRef, planRef }))
    await page.getByRole('button', { name: 'Continue to payment' }).click()
    await payWith(page, '4000002760003184')
    await page.getByRole('button', { name: answer }).click()
    await page.getByRole('heading', { name: heading }).waitFor()
    expect(await purchasesOf(customerRef)).toHaveLength(purchases)
    await visitor.close()
  })

  test('is charged once, however often the way is gone', async () => {
    const customerRef = await createCustomer(client)
    const visitor = await createVisitor(browser)
    const { page } = visitor
    const link = await checkoutLink({ customerRef, productRef, planRef })
    await page.goto(link)
    await page.getByRole('button', { name: 'Continue to payment' }).click()
    const payment = page.url()
    await page.goto(link)
    await page.getByRole('button', { name: 'Continue to payment' }).click()
    expect(page.url()).toBe(payment)
    await payWith(page, '4242424242424242')
    await page.getByRole('heading', { name: 'Done' }).waitFor()
    for (const again of [payment, payment.replace('/pay/', '/paid/')]) {
      await page.goto(again)
      await page.getByRole('heading', { name: 'Done' }).waitFor()
    }
    expect(await purchasesOf(customerRef)).toHaveLength(1)
    await visitor.close()
  })
})

test('credits are bought from the portal, and lead back to it', async () => {
  const customerRef = await createCustomer(client)
  const path = '/v1/sdk/customers/customer-sessions'
  const { customerUrl } = await send('POST', path, { customerRef })
  const visitor = await createVisitor(browser)
  const { page } = visitor
  await page.goto(customerUrl as string)
  await page.getByRole('link', { name: 'Credits' }).click()
  await page.getByRole('button', { name: 'Buy credits' }).click()
  await page.getByLabel('Amount').fill('0,10')
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await page.getByRole('alert').getByText('must be at least').waitFor()
  await visitor.inspect('checkout-credits')
  await page.getByLabel('Amount').fill('12,50')
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await page.getByRole('heading', { name: 'Pay $12.50' }).waitFor()
  await payWith(page, '4242424242424242')
  await page.getByRole('link', { name: 'Back to Test' }).click()
  await page.getByRole('link', { name: 'Credits' }).click()
  await page.getByText('125,000 credits').waitFor()
  await page.getByText('Credits bought').waitFor()
  await visitor.inspect('portal-credits-bought')
  await visitor.close()
})

test('a payment of somebody else is not shown', async () => {
  const visitor = await createVisitor(browser)
  const { page } = visitor
  const [one, other] = [await createCustomer(client), await createCustomer(client)]
  await page.goto(await checkoutLink({ customerRef: one, productRef, planRef }))
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  const [, intentRef = ''] = page.url().split('/pay/')
  await page.goto(await checkoutLink({ customerRef: other, productRef, planRef }))
  await page.goto(`${page.url()}/pay/${intentRef}`)
  await page.getByRole('heading', { name: 'There is nothing here' }).waitFor()
  await visitor.close()
})
