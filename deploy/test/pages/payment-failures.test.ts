import { afterAll, beforeEach, afterEach, expect, test, vi } from 'vitest'
import { createManualClock } from '../manual-clock.ts'
import { createCustomer } from '../offers.ts'
import { enterCard, startPayingStack } from './paying.ts'
import { createVisitor, type Visitor } from './visitor.ts'

/* Failures and delays during payments, in a real browser. */

const start = '2026-03-20T12:00:00Z'

let visitor: Visitor
let customerRef: string

const clock = createManualClock(start)
const settings = { TOLLGATE_PAYMENT_WAIT_MS: '300', TOLLGATE_STRIPE_TIMEOUT_MS: '2000' }
const paying = await startPayingStack({ clock, settings, logLevel: 'silent' })
// The bank only answers when the test tells it to.
await paying.simulate('clock', { isHeld: true })
const productRef = (await paying.client.createProduct({ name: 'Weather API' })).reference
const plan = { name: 'Professional', type: 'recurring', billingCycle: 'monthly', price: 4_900 }
const planRef = (await paying.client.createPlan(productRef, plan)).reference
afterAll(() => paying.stop())

beforeEach(async () => {
  clock.set(start)
  visitor = await createVisitor(paying.browser)
  customerRef = await createCustomer(paying.client)
  await visitor.page.goto(await paying.checkoutLink({ customerRef, productRef, planRef }))
})
afterEach(async () => {
  await fetch(`${paying.simulator.url}/_simulator/faults`, { method: 'DELETE' })
  await visitor.close()
})

/** Returns the sum of the customer's succeeded payments, in minor units. */
async function paidMinor(): Promise<unknown> {
  const [row] = await paying.stack.database.in('sandbox')`
    select coalesce(sum(original_amount), 0)::int as paid from payment_intents
    where customer_ref = ${customerRef} and status = 'succeeded'`
  return row?.['paid']
}

test.each([
  ['4000000000010001', 'Done', 1],
  ['4000000000010019', 'Pay $49.00', 0],
])('shows the outcome to a customer who waits for a slow bank: %s', async (...of) => {
  const [card, heading, purchases] = of
  const { page } = visitor
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await enterCard(page, card)
  await page.getByRole('heading', { name: 'Your payment is under way' }).waitFor()
  if (purchases === 1) await visitor.inspect('checkout-waiting')
  expect(await paying.purchasesOf(customerRef)).toEqual([])
  await paying.simulate('clock', { advanceSeconds: 10 })
  // The page reloads by itself every few seconds.
  await page.getByRole('heading', { name: heading }).waitFor()
  expect(await paying.purchasesOf(customerRef)).toHaveLength(purchases)
})

test('reports an unavailable processor, and charges nothing', async () => {
  const { page } = visitor
  await paying.simulate('faults', { kind: 'reset_before', times: 20 })
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await page.getByRole('heading', { name: 'This does not work right now' }).waitFor()
  await visitor.inspect('checkout-processor-away')
  await fetch(`${paying.simulator.url}/_simulator/faults`, { method: 'DELETE' })
  await page.getByRole('link', { name: 'Try again' }).click()
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await enterCard(page, '4242424242424242')
  await page.getByRole('heading', { name: 'Done' }).waitFor()
  expect(await paidMinor()).toBe(4_900)
})

test('charges once in two tabs', async () => {
  const { page } = visitor
  const other = await page.context().newPage()
  await other.goto(await paying.checkoutLink({ customerRef, productRef, planRef }))
  for (const tab of [page, other]) {
    await tab.getByRole('button', { name: 'Continue to payment' }).dblclick()
    await tab.getByRole('button', { name: 'Enter card' }).click()
    await tab.getByLabel('Card number').fill('4242424242424242')
  }
  await page.getByRole('button', { name: 'Pay' }).click()
  await page.getByRole('heading', { name: 'Done' }).waitFor()
  await other.getByRole('button', { name: 'Pay' }).click()
  await other.getByRole('heading', { name: /Done|You get your money back|Nothing to do/ }).waitFor()
  await vi.waitFor(
    async () => {
      const charges = await chargesOfCustomer()
      const kept = charges.reduce((sum, each) => sum + each.amount - each.amount_refunded, 0)
      expect(kept).toBe(4_900)
    },
    { timeout: 30_000, interval: 500 },
  )
  expect(await paying.purchasesOf(customerRef)).toHaveLength(1)
})

async function chargesOfCustomer() {
  const [row] = await paying.stack.database.in('sandbox')<{ processor_customer_id: string }[]>`
    select processor_customer_id from processor_customers where customer_ref = ${customerRef}`
  type Charge = {
    readonly amount: number
    readonly amount_refunded: number
    readonly paid: boolean
  }
  const path = `charges?customer=${row?.processor_customer_id}&limit=100`
  const { data } = await paying.stripe<{ readonly data: readonly Charge[] }>(path)
  return data.filter(({ paid }) => paid)
}

test('continues the same payment after going back from the card form', async () => {
  const { page } = visitor
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await page.getByRole('heading', { name: 'Pay $49.00' }).waitFor()
  const payment = page.url()
  await page.getByRole('button', { name: 'Enter card' }).click()
  await page.goBack()
  await page.getByRole('heading', { name: 'Pay $49.00' }).waitFor()
  await page.goBack()
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await page.waitForURL(payment)
  await enterCard(page, '4242424242424242')
  await page.getByRole('heading', { name: 'Done' }).waitFor()
  await page.goBack()
  await page.goto(payment)
  await page.getByRole('heading', { name: 'Done' }).waitFor()
  expect(await paidMinor()).toBe(4_900)
})

test('gives a customer the paid plan who returns from the bank after the checkout expired', async () => {
  const { page } = visitor
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await page.getByRole('button', { name: 'Enter card' }).click()
  clock.set('2026-03-20T12:20:00Z')
  await page.getByLabel('Card number').fill('4242424242424242')
  await page.getByRole('button', { name: 'Pay' }).click()
  await page.getByRole('heading', { name: 'Done' }).waitFor()
  expect(await paying.purchasesOf(customerRef)).toHaveLength(1)
})

test('tells a customer who returns late that the checkout expired', async () => {
  const { page } = visitor
  clock.set('2026-03-20T12:20:00Z')
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await page.getByRole('heading', { name: 'This link has expired' }).waitFor()
  expect(await paidMinor()).toBe(0)
})
