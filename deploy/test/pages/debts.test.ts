import { afterAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { createManualClock } from '../manual-clock.ts'
import { createCustomer } from '../offers.ts'
import { enterCard, startPayingStack, statusOf, waitForStatus } from './paying.ts'
import { createVisitor } from './visitor.ts'

/* Checkout of a customer with an unpaid invoice, in a real browser with all services including the billing runner. */

const clock = createManualClock('2026-03-20T12:00:00Z')
const paying = await startPayingStack({
  clock,
  hasBillingRunner: true,
  settings: {
    TOLLGATE_SCHEDULE_LOOK_MS: '100',
    TOLLGATE_BILLING_RETRY_PAUSE_MS: '100',
    TOLLGATE_PAYMENT_RETRY_HOURS: '1',
  },
})
const productRef = (await paying.client.createProduct({ name: 'Weather API' })).reference
const monthly = { type: 'recurring', billingCycle: 'monthly' }
const create = async (plan: { name: string; price: number; limit?: number }) =>
  (await paying.client.createPlan(productRef, { ...monthly, ...plan })).reference
const planRef = await create({ name: 'Professional', price: 4_900 })
const freeRef = await create({ name: 'Free', price: 0, limit: 10 })

afterAll(() => paying.stop())

/** Waits for the limit check. Changes of a runner are published directly after its transaction, not within it. */
async function waitForLimit(customerRef: string, limit: Record<string, unknown>): Promise<void> {
  const check = () => paying.client.checkLimit(customerRef, productRef)
  await expect.poll(check).toMatchObject(limit)
}

function activate(customerRef: string, plan = planRef): Promise<Record<string, unknown>> {
  return paying.send('POST', '/v1/sdk/activate', { customerRef, productRef, planRef: plan })
}

/** Buys the plan. Its renewal and the retry are declined. */
async function suspend(page: Page, customerRef: string): Promise<void> {
  await page.goto(await paying.checkoutLink({ customerRef, productRef, planRef }))
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await enterCard(page, '4242424242424242')
  await page.getByRole('heading', { name: 'Done' }).waitFor()
  await page.goto(await paying.portalLink(customerRef))
  await page.getByRole('link', { name: 'Payment' }).click()
  await page.getByRole('button', { name: 'Use another card' }).click()
  await enterCard(page, '4000000000000341')
  await page.getByText('Your card is saved.').waitFor()
  const boughtMs = clock.now()
  clock.set(boughtMs + 32 * 86_400_000)
  await waitForStatus(paying, customerRef, 'past_due')
  clock.set(boughtMs + 33 * 86_400_000)
  await waitForStatus(paying, customerRef, 'suspended')
}

test('restores a suspended purchase when the customer pays the open invoice on the checkout', async () => {
  const customerRef = await createCustomer(paying.client)
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  await suspend(page, customerRef)
  await waitForLimit(customerRef, { withinLimits: false, plan: '' })
  const refused = await activate(customerRef)
  expect(refused).toMatchObject({ status: 'payment_required' })
  expect(refused['message']).toContain('unpaid invoices')
  await page.goto(await paying.portalLink(customerRef))
  await page.getByText('An invoice is unpaid. The plan continues as soon as it is paid.').waitFor()
  await visitor.inspect('portal-paused')

  await page.goto(refused['checkoutUrl'] as string)
  await page.getByRole('heading', { name: 'Please pay your unpaid invoices first' }).waitFor()
  await expect(page.getByRole('button', { name: /Start|Continue/ }).count()).resolves.toBe(0)
  await visitor.inspect('checkout-debts')
  const debts = page.url()
  await page.getByRole('button', { name: /^Pay \$49\.00: TEST-INV-/ }).dblclick()
  await page.getByRole('heading', { name: 'Pay $49.00' }).waitFor()
  await visitor.inspect('checkout-debt-payment')
  // If the customer goes back and pays again, it is the same payment.
  const payment = page.url()
  await page.goto(debts)
  await page.getByRole('button', { name: /^Pay \$49\.00: TEST-INV-/ }).click()
  await page.getByRole('heading', { name: 'Pay $49.00' }).waitFor()
  expect(page.url()).toBe(payment)

  await enterCard(page, '4000000000000002')
  await page.getByText('Your card was declined.').waitFor()
  expect(await statusOf(paying, customerRef)).toBe('suspended')
  await page.getByLabel('Card number').fill('4000002500003155')
  await page.getByRole('button', { name: /Pay/ }).click()
  await page.getByRole('button', { name: 'Yes, it is me' }).click()
  await page.getByRole('heading', { name: 'Your invoice is paid' }).waitFor()
  await page.getByText('Professional is active').waitFor()
  const paid = await page.getByRole('main').innerText()
  expect(paid).toMatch(/Paid today\s+\$49\.00[^]*Visa ending in 3155[^]*Next charge\s+\$49\.00 on /)
  await page.getByRole('link', { name: /^TEST-INV-/ }).waitFor()
  await visitor.inspect('checkout-debts-paid')

  expect(await paying.purchasesOf(customerRef)).toMatchObject([{ status: 'active' }])
  await waitForLimit(customerRef, { withinLimits: true, plan: planRef })
  expect(await activate(customerRef)).toMatchObject({ status: 'already_active' })
  const { data } = await paying.stripe<{ data: { status: string }[] }>('charges?limit=100')
  // The purchase and its renewal are charged once each.
  expect(data.filter(({ status }) => status === 'succeeded')).toHaveLength(2)
  await visitor.close()
}, 120_000)

test("does not pay it on another customer's checkout, and refuses a free plan until it is paid", async () => {
  const customerRef = await createCustomer(paying.client)
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  await suspend(page, customerRef)
  const free = await activate(customerRef, freeRef)
  expect(free).toMatchObject({ status: 'payment_required' })
  await page.goto(free['checkoutUrl'] as string)
  const form = page.locator('form[action*="/debts/"]')
  const [, invoiceRef = ''] = ((await form.getAttribute('action')) ?? '').split('/debts/')
  await page.getByRole('button', { name: /^Pay \$49\.00: / }).click()
  await page.getByRole('heading', { name: 'Pay $49.00' }).waitFor()
  const [, intentRef = ''] = page.url().split('/pay/')

  const stranger = await createCustomer(paying.client)
  await page.goto(await paying.checkoutLink({ customerRef: stranger, productRef, planRef }))
  const own = page.url()
  await page.goto(`${own}/pay/${intentRef}`)
  await page.getByRole('heading', { name: 'There is nothing here' }).waitFor()
  await page.goto(own)
  const token = await page.locator('input[name="formToken"]').first().inputValue()
  const request = await page.request.post(`${own}/debts/${invoiceRef}`, {
    form: { formToken: token },
    maxRedirects: 0,
  })
  expect([request.status(), request.headers()['location']]).toEqual([303, new URL(own).pathname])
  expect(await statusOf(paying, customerRef)).toBe('suspended')
  await visitor.close()
}, 120_000)
