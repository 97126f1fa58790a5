import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { createCustomer } from '../offers.ts'
import { enterCard, startPayingStack, type PayingStack } from './paying.ts'
import { createVisitor } from './visitor.ts'

/* Business details and taxes at checkout in a real browser, with a German provider who collects VAT. */

let paying: PayingStack
let productRef: string
let planRef: string

beforeAll(async () => {
  paying = await startPayingStack()
  const { client, send } = paying
  await send('PATCH', '/v1/ui/merchant', {
    country: 'DE',
    vatNumber: 'DE123456789',
    supportedTopupCurrencies: ['EUR'],
  })
  productRef = (await client.createProduct({ name: 'Weather API', taxBehavior: 'exclusive' }))
    .reference
  const plan = { name: 'Professional', type: 'recurring', billingCycle: 'monthly', price: 4_900 }
  planRef = (await client.createPlan(productRef, plan)).reference
})

afterAll(() => paying.stop())

const dueOf = (page: Page) => page.getByRole('region', { name: 'What is due' })

async function chargedTo(customerRef: string): Promise<unknown> {
  return paying.stack.database.in('sandbox')`
    select original_amount, tax ->> 'treatment' as treatment, status from payment_intents
    where customer_ref = ${customerRef} order by created_at`
}

test('updates the total when the country changes, and charges that total', async () => {
  const customerRef = await createCustomer(paying.client)
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  await page.goto(await paying.checkoutLink({ customerRef, productRef, planRef }))
  await page.getByText('Taxes depend on the country that you are in.').waitFor()
  await visitor.inspect('checkout-country')
  const due = dueOf(page)
  await page.getByLabel('Country').selectOption('France')
  await due.getByText('VAT 20% (FR)').waitFor()
  await due.getByText('$58.80').waitFor()
  await page.getByLabel('Country').selectOption('United States')
  await due.getByText('VAT 20% (FR)').waitFor({ state: 'detached' })
  await page.getByLabel('Country').selectOption('Finland')
  await due.getByText('VAT 25.5% (FI)').waitFor()
  await due.getByText('$61.50').waitFor()
  await due.getByText('Renews at $49.00 / month plus tax until you cancel.').waitFor()
  await visitor.inspect('checkout-tax')
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await page.getByRole('heading', { name: 'Pay $61.50' }).waitFor()
  await visitor.inspect('checkout-tax-payment')

  // The country changes after the payment was created.
  await page.getByRole('link', { name: 'Back' }).click()
  await expect(page.getByLabel('Country').inputValue()).resolves.toBe('FI')
  await page.getByLabel('Country').selectOption('Germany')
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await page.getByRole('heading', { name: 'Pay $58.31' }).waitFor()
  await enterCard(page, '4242424242424242')
  await page.getByRole('heading', { name: 'Done' }).waitFor()
  expect(await chargedTo(customerRef)).toEqual([
    { original_amount: 5_831n, treatment: 'standard', status: 'succeeded' },
  ])
  await visitor.close()
})

test('charges no VAT to a business in another state with a valid tax id', async () => {
  const customerRef = await createCustomer(paying.client)
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  await page.goto(await paying.checkoutLink({ customerRef, productRef, planRef }))
  await page.getByLabel('Country').selectOption('Austria')
  await expect(page.getByLabel('VAT or tax ID').isVisible()).resolves.toBe(false)
  await page.getByLabel('I am buying for a business').check()
  await page.getByLabel('Company name').fill('Donau GmbH')
  await page.getByLabel('VAT or tax ID').fill('DE123456789')
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await page.getByText('Please check your billing details.').waitFor()
  await page.getByText('This is not a valid tax ID for Austria.').waitFor()
  await visitor.inspect('checkout-tax-id')
  await page.getByLabel('VAT or tax ID').fill('atu 12345678')
  await page.getByLabel('VAT or tax ID').blur()
  await page.getByText('Reverse charge').waitFor()
  await expect(page.getByText('This is not a valid tax ID').count()).resolves.toBe(0)
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await page.getByRole('heading', { name: 'Pay $49.00' }).waitFor()
  await enterCard(page, '4242424242424242')
  await page.getByRole('heading', { name: 'Done' }).waitFor()
  expect(await chargedTo(customerRef)).toEqual([
    { original_amount: 4_900n, treatment: 'reverse_charge', status: 'succeeded' },
  ])
  await visitor.close()
})

test('charges tax on credits, and remembers the tax details', async () => {
  const customerRef = await createCustomer(paying.client)
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  for (const country of ['', 'IE']) {
    await page.goto(await paying.portalLink(customerRef))
    await page.getByRole('link', { name: 'Credits' }).click()
    await page.getByRole('button', { name: 'Buy credits' }).click()
    await expect(page.getByLabel('Country').inputValue()).resolves.toBe(country)
    await page.getByLabel('Amount').fill('20')
    if (country === '') await page.getByLabel('Country').selectOption('Ireland')
    else await page.getByLabel('Amount').blur()
    await page.getByText('$24.60').waitFor()
    if (country === '') await visitor.inspect('checkout-credits-tax')
    await page.getByRole('button', { name: 'Continue to payment' }).click()
    await enterCard(page, '4242424242424242')
    await page.getByRole('heading', { name: 'Done' }).waitFor()
  }
  await visitor.close()
})

test('updates the total by a button without scripts', async () => {
  const customerRef = await createCustomer(paying.client)
  const visitor = await createVisitor(paying.browser, { javaScriptEnabled: false })
  const { page } = visitor
  await page.goto(await paying.checkoutLink({ customerRef, productRef, planRef }))
  await page.getByLabel('Country').selectOption('Austria')
  await page.getByRole('button', { name: 'Update the total' }).click()
  await dueOf(page).getByText('$58.80').waitFor()
  expect(await chargedTo(customerRef)).toEqual([])
  await visitor.close()
})
