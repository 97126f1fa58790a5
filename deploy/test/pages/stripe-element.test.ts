import { readFile } from 'node:fs/promises'
import { afterAll, beforeEach, afterEach, expect, test } from 'vitest'
import type { Page, Route } from 'playwright-core'
import { createCustomer } from '../offers.ts'
import { startPayingStack } from './paying.ts'
import { createVisitor, type Visitor } from './visitor.ts'

/*
 * Cards entered in Stripe's own element. The pages are the same as with Stripe, including their content security policy. In the
 * browser, Stripe's script is replaced by a fake, and requests to Stripe go to the simulator.
 */

let visitor: Visitor

const paying = await startPayingStack({ isLikeStripe: true })
const productRef = (await paying.client.createProduct({ name: 'Weather API' })).reference
const plan = { name: 'Professional', type: 'recurring', billingCycle: 'monthly', price: 4_900 }
const planRef = (await paying.client.createPlan(productRef, plan)).reference
afterAll(() => paying.stop())

beforeEach(async () => {
  visitor = await createVisitor(paying.browser)
  const body = await readFile(new URL('stripe-stand-in.js', import.meta.url), 'utf8')
  const script = { contentType: 'text/javascript', body }
  await visitor.page.route('https://js.stripe.com/**', (route) => route.fulfill(script))
  await visitor.page.route('https://api.stripe.com/**', confirmAtSimulator)
})
afterEach(() => visitor.close())

/** Confirms the entered card at the simulator, like Stripe.js does at Stripe. */
async function confirmAtSimulator(route: Route): Promise<void> {
  const { clientSecret, number, return_url } = route.request().postDataJSON() as Confirmation
  const [id = ''] = clientSecret.split('_secret_')
  const card = { number, exp_month: '12', exp_year: '2099', cvc: '123' }
  const answer = await fetch(`${paying.simulator.url}/_simulator/card/${id}`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ ...card, client_secret: clientSecret, return_url }),
  })
  const location = answer.headers.get('location')
  const json =
    location === null
      ? { error: { message: 'Your card was declined.' } }
      : { url: new URL(location, paying.simulator.url).href }
  await route.fulfill({ json, headers: { 'access-control-allow-origin': '*' } })
}

type Confirmation = {
  readonly clientSecret: string
  readonly number: string
  readonly return_url: string
}

const callsOf = (page: Page) => page.evaluate<unknown[][]>('window.stripeCalls')

async function openPayment(customerRef: string): Promise<Page> {
  const { page } = visitor
  await page.goto(await paying.checkoutLink({ customerRef, productRef, planRef }))
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await page.getByRole('heading', { name: 'Pay $49.00' }).waitFor()
  return page
}

test('pays for a plan after a declined card', async () => {
  const customerRef = await createCustomer(paying.client)
  const page = await openPayment(customerRef)
  const payment = page.url()
  await page.getByLabel('Card number').fill('4000000000000002')
  await page.getByRole('button', { name: 'Pay $49.00' }).click()
  await page.getByRole('alert').getByText('Your card was declined.').waitFor()
  await visitor.inspect('checkout-element')
  const calls = await callsOf(page)
  expect(calls).toEqual([
    ['Stripe', 'pk_test_pages'],
    [
      'elements',
      {
        theme: 'stripe',
        variables: expect.objectContaining({
          colorPrimary: '#2f4fd0',
          colorText: '#171b22',
        }) as unknown,
      },
    ],
    ['create', 'payment'],
    ['confirmPayment', { return_url: payment.replace('/pay/', '/paid/') }],
  ])
  await page.getByLabel('Card number').fill('4242424242424242')
  await page.getByRole('button', { name: 'Pay $49.00' }).click()
  await page.getByRole('heading', { name: 'Done' }).waitFor()
  expect(await paying.purchasesOf(customerRef)).toMatchObject([{ status: 'active' }])
})

test("returns from the bank's confirmation", async () => {
  const customerRef = await createCustomer(paying.client)
  const page = await openPayment(customerRef)
  await page.getByLabel('Card number').fill('4000002760003184')
  await page.getByRole('button', { name: 'Pay $49.00' }).click()
  await page.getByRole('button', { name: 'Yes, it is me' }).click()
  await page.getByRole('heading', { name: 'Done' }).waitFor()
})

test('saves a card in the portal', async () => {
  const { page } = visitor
  await page.goto(await paying.portalLink(await createCustomer(paying.client)))
  await page.getByRole('link', { name: 'Payment' }).click()
  await page.getByRole('button', { name: 'Add a card' }).click()
  await page.getByLabel('Card number').fill('4000000000000002')
  await page.getByRole('button', { name: 'Save card' }).click()
  await page.getByRole('alert').getByText('Your card was declined.').waitFor()
  expect((await callsOf(page)).at(-1)).toEqual([
    'confirmSetup',
    { return_url: `${page.url()}/done` },
  ])
  await page.getByLabel('Card number').fill('4242424242424242')
  await page.getByRole('button', { name: 'Save card' }).click()
  await page.getByText('ending in 4242').waitFor()
  await visitor.inspect('portal-card-saved')
})

test("reports that Stripe's script did not load", async () => {
  await visitor.page.route('https://js.stripe.com/**', (route) => route.abort())
  const page = await openPayment(await createCustomer(paying.client))
  await page.getByRole('alert').getByText('The card form could not be loaded.').waitFor()
  await expect(page.getByRole('button', { name: 'Pay $49.00' }).isEnabled()).resolves.toBe(false)
})

test("allows Stripe's scripts and frames only on the card page", async () => {
  const { page } = visitor
  const policies: string[] = []
  page.on('response', (response) => {
    const policy = response.headers()['content-security-policy']
    if (response.request().isNavigationRequest() && policy !== undefined) policies.push(policy)
  })
  await openPayment(await createCustomer(paying.client))
  const last = policies.pop() ?? ''
  expect(last.split('; ')).toEqual(
    expect.arrayContaining([
      "script-src 'self' https://js.stripe.com https://*.js.stripe.com",
      'frame-src https://js.stripe.com https://*.js.stripe.com https://hooks.stripe.com',
      "connect-src 'self' https://api.stripe.com",
      "form-action 'self'",
    ]),
  )
  expect(policies.length).toBeGreaterThan(0)
  for (const policy of policies) expect(policy).not.toContain('stripe.com')
})
