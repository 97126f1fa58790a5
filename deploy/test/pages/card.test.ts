import { afterAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { createCustomer } from '../offers.ts'
import { enterCard, startPayingStack } from './paying.ts'
import { createVisitor } from './visitor.ts'

/* The saved card in the portal, in a real browser: with all services and the simulator of Stripe. */

const paying = await startPayingStack()
const productRef = (await paying.client.createProduct({ name: 'Weather API' })).reference
const plan = { name: 'Professional', type: 'recurring', billingCycle: 'monthly', price: 4_900 }
const planRef = (await paying.client.createPlan(productRef, plan)).reference

afterAll(() => paying.stop())

async function openPayment(page: Page, customerRef: string): Promise<void> {
  await page.goto(await paying.portalLink(customerRef))
  await page.getByRole('link', { name: 'Payment' }).click()
  await page.getByRole('heading', { name: 'Saved card' }).waitFor()
}

function cardOf(customerRef: string): Promise<Record<string, unknown>> {
  return paying.send('GET', `/v1/sdk/payment-method?customerRef=${customerRef}`)
}

/** Returns the last digits of the processor's default card of the customer. */
async function chargedByDefault(customerRef: string): Promise<string | undefined> {
  const [row] = await paying.stack.database.in('sandbox')<{ processor_customer_id: string }[]>`
    select processor_customer_id from processor_customers where customer_ref = ${customerRef}`
  const customer = await paying.stripe<StripeCustomer>(`customers/${row?.processor_customer_id}`)
  const { default_payment_method: id } = customer.invoice_settings
  if (id === null) return undefined
  const method = await paying.stripe<{ card: { last4: string } }>(`payment_methods/${id}`)
  return method.card.last4
}

type StripeCustomer = {
  readonly invoice_settings: { readonly default_payment_method: string | null }
}

test('adds a card, confirms it with the bank, replaces and removes it', async () => {
  const customerRef = await createCustomer(paying.client)
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  await openPayment(page, customerRef)
  await page.getByRole('button', { name: 'Add a card' }).dblclick()
  await page.getByRole('heading', { name: 'Save a card' }).waitFor()
  await visitor.inspect('portal-card-entry')
  const first = `${page.url()}/done`
  await enterCard(page, '4000002500003155')
  await page.getByRole('button', { name: 'Yes, it is me' }).click()
  await page.getByText('Your card is saved.').waitFor()
  await page.getByText('ending in 3155').waitFor()
  expect(await cardOf(customerRef)).toMatchObject({ last4: '3155' })

  await page.getByRole('button', { name: 'Use another card' }).click()
  await page.getByRole('heading', { name: 'Save a card' }).waitFor()
  const second = `${page.url()}/done`
  await enterCard(page, '5555555555554444')
  await page.getByText('ending in 4444').waitFor()
  await visitor.inspect('portal-card')
  expect(await chargedByDefault(customerRef)).toBe('4444')

  // Opening the link of an earlier card again does not restore that card.
  await page.goto(first)
  await page.getByText('ending in 4444').waitFor()
  expect(await chargedByDefault(customerRef)).toBe('4444')

  await page.getByRole('link', { name: 'Remove' }).click()
  await page.getByRole('heading', { name: 'Remove your card?' }).waitFor()
  await page.getByRole('link', { name: 'Keep it' }).click()
  await page.getByRole('link', { name: 'Remove' }).click()
  await page.getByRole('button', { name: 'Remove card' }).click()
  await page.getByText('Your card is removed.').waitFor()
  await page.getByText('No card is saved.').waitFor()
  expect(await chargedByDefault(customerRef)).toBeUndefined()
  await page.goto(second)
  await page.getByText('No card is saved.').waitFor()
  await visitor.close()
})

test('saves the card that buys a plan, and names what its removal will stop', async () => {
  const customerRef = await createCustomer(paying.client)
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  await page.goto(await paying.checkoutLink({ customerRef, productRef, planRef }))
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await enterCard(page, '4242424242424242')
  await page.getByRole('heading', { name: 'Done' }).waitFor()
  await openPayment(page, customerRef)
  await page.getByText('Weather API: $49.00 / month, next on').waitFor()
  await page.getByRole('link', { name: 'Remove' }).click()
  await page.getByText('Weather API cannot renew on').waitFor()
  await visitor.inspect('portal-card-remove')
  await visitor.close()
})

test('shows billing details with the card, and validates them as at checkout', async () => {
  const customerRef = await createCustomer(paying.client)
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  await openPayment(page, customerRef)
  await page.getByRole('link', { name: 'Edit billing details' }).click()
  await page.getByLabel('Country').selectOption('Germany')
  await page.getByLabel('I am buying for a business').check()
  await page.getByLabel('Company name').fill('Analytical Engines GmbH')
  await page.getByLabel('VAT or tax ID').fill('123')
  await page.getByLabel('Address').fill('Unter den Linden 1\n10117 Berlin')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('This is not a tax ID of the country.').waitFor()
  await visitor.inspect('portal-billing-refused')
  await page.getByLabel('VAT or tax ID').fill('DE 123456789')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Your billing details are saved.').waitFor()
  await page.getByText('DE123456789').waitFor()
  await visitor.inspect('portal-billing')
  await visitor.close()
})

test('keeps the card if another one is declined or not entered', async () => {
  const customerRef = await createCustomer(paying.client)
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  await openPayment(page, customerRef)
  await page.getByRole('button', { name: 'Add a card' }).click()
  await enterCard(page, '4242424242424242')
  await page.getByText('Your card is saved.').waitFor()
  await page.getByRole('button', { name: 'Use another card' }).click()
  const entry = page.url()
  await page.goto(`${entry}/done`)
  await page.getByRole('alert').getByText('No card was entered.').waitFor()
  await enterCard(page, '4000000000000002')
  await page.getByText('Your card was declined.').waitFor()
  await page.goto(`${entry}/done`)
  await page.getByRole('alert').getByText('was not accepted').waitFor()
  await visitor.inspect('portal-card-declined')
  expect(await cardOf(customerRef)).toMatchObject({ last4: '4242' })
  await visitor.close()
})

test('does not let another customer enter the card', async () => {
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  const [one, other] = [await createCustomer(paying.client), await createCustomer(paying.client)]
  await openPayment(page, one)
  await page.getByRole('button', { name: 'Add a card' }).click()
  const [, setup = ''] = page.url().split('/payment/card/')
  await openPayment(page, other)
  for (const rest of ['', '/done']) {
    await page.goto(`${page.url().split('/payment')[0] ?? ''}/payment/card/${setup}${rest}`)
    await page.getByRole('heading', { name: 'There is nothing here' }).waitFor()
  }
  await visitor.close()
})

test('asks for a card if automatic top-up needs one', async () => {
  const customerRef = await createCustomer(paying.client)
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  await page.goto(await paying.portalLink(customerRef))
  await page.getByRole('link', { name: 'Credits' }).click()
  await page.getByLabel('When the balance falls below').fill('5')
  await page.getByLabel('Buy credits for').fill('10')
  await page.getByRole('button', { name: 'Turn on' }).click()
  await page.getByText('Waiting for a card').waitFor()
  await visitor.inspect('portal-credits-waiting')
  await page.getByRole('button', { name: 'Save a card' }).click()
  await page.getByText('Nothing is charged now.').waitFor()
  await enterCard(page, '4242424242424242')
  await page.getByText('Automatic top-up of your credits').waitFor()
  // The wallet is empty and has no movements. The top-up below the threshold still happens.
  await expect
    .poll(() => paying.send('GET', `/v1/sdk/customers/${customerRef}/balance`), {
      timeout: 60_000,
    })
    .toMatchObject({ credits: 100_000 })
  await visitor.close()
})
