import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { createManualClock, type ManualClock } from '../manual-clock.ts'
import { createCustomer } from '../offers.ts'
import { enterCard, startPayingStack, statusOf, waitForStatus, type PayingStack } from './paying.ts'
import { createVisitor } from './visitor.ts'

/* Pages for customers whose renewal could not be charged, in a real browser with all services including the billing runner. */

let clock: ManualClock
let paying: PayingStack
let productRef: string
let planRef: string

beforeAll(async () => {
  clock = createManualClock('2026-03-20T12:00:00Z')
  const settings = { TOLLGATE_SCHEDULE_LOOK_MS: '100', TOLLGATE_BILLING_RETRY_PAUSE_MS: '100' }
  paying = await startPayingStack({ clock, hasBillingRunner: true, settings })
  productRef = (await paying.client.createProduct({ name: 'Weather API' })).reference
  const plan = { name: 'Professional', type: 'recurring', billingCycle: 'monthly', price: 4_900 }
  planRef = (await paying.client.createPlan(productRef, plan)).reference
})

afterAll(() => paying.stop())

async function buyWith(page: Page, customerRef: string, card: string): Promise<void> {
  await page.goto(await paying.checkoutLink({ customerRef, productRef, planRef }))
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await enterCard(page, card)
}

test('renews the plan after the customer confirms the payment with the bank', async () => {
  const customerRef = await createCustomer(paying.client)
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  await buyWith(page, customerRef, '4000002760003184')
  await page.getByRole('button', { name: 'Yes, it is me' }).click()
  await page.getByRole('heading', { name: 'Done' }).waitFor()
  clock.set('2026-04-20T12:00:00Z')
  await waitForStatus(paying, customerRef, 'past_due')

  await page.goto(await paying.portalLink(customerRef))
  await page.getByRole('heading', { name: 'A payment did not go through' }).waitFor()
  await visitor.inspect('portal-past-due')
  await page.getByRole('link', { name: /^Pay now: TEST-INV-/ }).click()
  await page.getByRole('heading', { name: 'Pay $49.00' }).waitFor()
  await visitor.inspect('portal-unpaid')
  await page.getByRole('button', { name: /Pay \$49\.00 with/ }).click()
  await page.getByText('Your bank wants to make sure').waitFor()
  await visitor.inspect('portal-unpaid-bank')
  const bankUrl = page.url()
  await page.getByRole('link', { name: 'Continue to your bank' }).click()
  await page.getByRole('button', { name: 'No' }).click()
  await page.getByRole('alert').getByText('did not go through').waitFor()

  await page.getByRole('button', { name: /Pay \$49\.00 with/ }).click()
  await page.getByRole('link', { name: 'Continue to your bank' }).click()
  await page.getByRole('button', { name: 'Yes, it is me' }).click()
  await page.getByText('Thank you. The invoice is paid.').waitFor()
  expect(await statusOf(paying, customerRef)).toBe('active')
  await page.goto(bankUrl)
  await page.getByText('Thank you. The invoice is paid.').waitFor()
  await expect(page.getByText('A payment did not go through').count()).resolves.toBe(0)
  await visitor.close()
})

test('shows the outcome to a customer who returns from the bank without the same portal session', async () => {
  const customerRef = await createCustomer(paying.client)
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  clock.set('2026-04-21T12:00:00Z')
  await buyWith(page, customerRef, '4000002760003184')
  await page.getByRole('button', { name: 'Yes, it is me' }).click()
  await page.getByRole('heading', { name: 'Done' }).waitFor()
  clock.set('2026-05-21T12:00:00Z')
  await waitForStatus(paying, customerRef, 'past_due')

  await toBank(page, customerRef)
  const bank = page.url()
  // Another browser has only the bank's URL.
  const stranger = await createVisitor(paying.browser)
  await stranger.page.goto(bank)
  await stranger.page.getByRole('button', { name: 'No' }).click()
  await stranger.page.getByRole('heading', { name: 'Your payment did not go through' }).waitFor()
  await stranger.inspect('portal-returned-unpaid')
  const returned = stranger.page.url().replace(/\?.*/, '')
  await page.goto(returned)
  await page.getByRole('alert').getByText('did not go through').waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.goto(returned)
  await page.getByRole('heading', { name: 'Your payment did not go through' }).waitFor()

  await toBank(page, customerRef)
  const earlier = page.url()
  await page.goto(await paying.portalLink(customerRef))
  await page.getByRole('heading', { name: 'Your plans' }).waitFor()
  await page.context().clearCookies({ name: /^portal_/ })
  await page.goto(await paying.portalLink(customerRef))
  await page.getByRole('heading', { name: 'Your plans' }).waitFor()
  const [current] = page.url().split('?')
  await page.goto(earlier)
  await page.getByRole('button', { name: 'Yes, it is me' }).click()
  await page.getByText('Thank you. The invoice is paid.').waitFor()
  expect(page.url()).toContain(current)

  await stranger.page.goto(returned)
  await stranger.page.getByRole('heading', { name: 'Your payment went through' }).waitFor()
  await stranger.inspect('portal-returned-paid')
  const told = await stranger.page.getByRole('main').innerText()
  expect(told).not.toMatch(/INV-|\$|Professional|Weather|@/)
  for (const guessed of [returned.slice(0, -1), returned.replace('/sandbox/', '/live/')]) {
    await stranger.page.goto(guessed)
    await stranger.page.getByRole('heading', { name: 'There is nothing here' }).waitFor()
  }
  await stranger.close()
  await visitor.close()
})

/** Opens the bank's page of the unpaid invoice, starting from the customer's portal. */
async function toBank(page: Page, customerRef: string): Promise<void> {
  await page.goto(await paying.portalLink(customerRef))
  await page.getByRole('link', { name: /^Pay now: TEST-INV-/ }).click()
  await page.getByRole('button', { name: /Pay \$49\.00 with/ }).click()
  await page.getByRole('link', { name: 'Continue to your bank' }).click()
  await page.getByRole('button', { name: 'Yes, it is me' }).waitFor()
}

test('charges another card for the declined renewal', async () => {
  const customerRef = await createCustomer(paying.client)
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  // The clock never moves back, because the schedules only run forward.
  clock.set('2026-05-25T12:00:00Z')
  await buyWith(page, customerRef, '4242424242424242')
  await page.getByRole('heading', { name: 'Done' }).waitFor()
  await page.goto(await paying.portalLink(customerRef))
  await page.getByRole('link', { name: 'Payment' }).click()
  await page.getByRole('button', { name: 'Use another card' }).click()
  await enterCard(page, '4000000000000341')
  await page.getByText('Your card is saved.').waitFor()
  clock.set('2026-06-25T12:00:00Z')
  await waitForStatus(paying, customerRef, 'past_due')

  await page.goto(await paying.portalLink(customerRef))
  await page.getByRole('link', { name: /^Pay now: TEST-INV-/ }).click()
  await page.getByRole('button', { name: /Pay \$49\.00 with/ }).click()
  await page.getByRole('alert').getByText('did not go through').waitFor()
  await visitor.inspect('portal-unpaid-declined')
  await page.getByRole('button', { name: 'Use another card' }).click()
  await enterCard(page, '5555555555554444')
  await page.getByText('Your card is saved.').waitFor()
  clock.set('2026-06-25T13:00:00Z')
  await waitForStatus(paying, customerRef, 'active')
  await page.goto(await paying.portalLink(customerRef))
  await page.getByRole('heading', { name: 'Your plans' }).waitFor()
  await expect(page.getByText('A payment did not go through').count()).resolves.toBe(0)
  await visitor.close()
})

test('asks a customer without a card for one, and names the amount it will be charged', async () => {
  const customerRef = await createCustomer(paying.client)
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  clock.set('2026-07-01T12:00:00Z')
  await buyWith(page, customerRef, '4242424242424242')
  await page.getByRole('heading', { name: 'Done' }).waitFor()
  await page.goto(await paying.portalLink(customerRef))
  await page.getByRole('link', { name: 'Payment' }).click()
  await page.getByRole('link', { name: 'Remove' }).click()
  await page.getByRole('button', { name: 'Remove card' }).click()
  await page.getByText('Your card is removed.').waitFor()
  clock.set('2026-08-01T12:00:00Z')
  await waitForStatus(paying, customerRef, 'past_due')
  await page.goto(await paying.portalLink(customerRef))
  await page.getByRole('link', { name: /^Pay now: TEST-INV-/ }).click()
  await page.getByRole('button', { name: 'Add a card' }).click()
  await page.getByText('What could not be charged is charged to this card').waitFor()
  await visitor.inspect('portal-unpaid-card-entry')
  await visitor.close()
})

test('offers the plan of a trial that ended without a card, without another trial', async () => {
  const plan = { name: 'Trial', type: 'recurring', billingCycle: 'monthly', price: 2_900 }
  const tried = (await paying.client.createPlan(productRef, { ...plan, trialDays: 14 })).reference
  const customerRef = await createCustomer(paying.client)
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  clock.set('2026-09-01T12:00:00Z')
  await page.goto(await paying.checkoutLink({ customerRef, productRef, planRef: tried }))
  await page.getByText('14-day free trial').waitFor()
  await page.getByRole('button', { name: 'Start the free trial' }).click()
  await page.getByRole('heading', { name: 'Done' }).waitFor()
  clock.set('2026-09-16T12:00:00Z')
  await waitForStatus(paying, customerRef, 'suspended')
  await page.goto(await paying.portalLink(customerRef))
  await page.getByText('Paused').waitFor()
  await page.getByText('The trial has ended. Choose a plan to continue.').waitFor()
  await visitor.inspect('portal-paused')
  await page.getByRole('button', { name: 'Choose a plan' }).click()
  await page.getByRole('link', { name: 'Choose Trial' }).waitFor()
  await expect(page.getByText('14-day free trial').count()).resolves.toBe(0)
  await page.getByRole('link', { name: 'Choose Trial' }).click()
  await page.getByText('Due today').waitFor()
  await expect(page.getByText('14-day free trial').count()).resolves.toBe(0)
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await enterCard(page, '4242424242424242')
  await page.getByRole('heading', { name: 'Done' }).waitFor()
  expect(await statusOf(paying, customerRef)).toBe('active')
  await visitor.close()
})

test('offers the plans of the last product to a customer whose plan has ended', async () => {
  const customerRef = await createCustomer(paying.client)
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  await buyWith(page, customerRef, '4242424242424242')
  await page.getByRole('heading', { name: 'Done' }).waitFor()
  const [bought] = await paying.purchasesOf(customerRef)
  await paying.send('POST', `/v1/sdk/purchases/${bought?.['reference'] as string}/cancel`)
  clock.set('2026-10-17T12:00:00Z')
  await waitForStatus(paying, customerRef, 'cancelled')
  await page.goto(await paying.portalLink(customerRef))
  await page.getByRole('heading', { name: 'Choose a plan for Weather API' }).waitFor()
  await visitor.inspect('portal-plan-ended')
  await page.getByRole('button', { name: 'See the plans' }).click()
  await page.getByRole('link', { name: 'Choose Professional' }).waitFor()
  await visitor.close()
})
