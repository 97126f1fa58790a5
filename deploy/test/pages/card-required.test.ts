import { afterAll, expect, test } from 'vitest'
import { callProcessor } from '../../../stripe-simulator/test/at-processor.ts'
import { createCustomer } from '../offers.ts'
import { enterCard, startPayingStack } from './paying.ts'
import { createVisitor } from './visitor.ts'

/* Plans that require a saved card, in a real browser: with all services and the simulator of Stripe. */

const paying = await startPayingStack({ settings: { TOLLGATE_PROCESSOR_POLL_SECONDS: '1' } })
const productRef = (await paying.client.createProduct({ name: 'Weather API' })).reference
const postPaid = await createPlan({
  name: 'As you go',
  type: 'usage-based',
  billingModel: 'post-paid',
  creditsPerUnit: 100,
  maxUnbilledMinor: 5_000,
  default: true,
})

afterAll(() => paying.stop())

async function createPlan(plan: Record<string, unknown>): Promise<string> {
  const { reference } = await paying.client.createPlan(productRef, {
    requiresPaymentMethod: true,
    ...plan,
  })
  return reference
}

function activate(customerRef: string, planRef = postPaid): Promise<Record<string, unknown>> {
  return paying.send('POST', '/v1/sdk/activate', { customerRef, productRef, planRef })
}

test('starts a plan that needs a card when the card is saved, not with a limit check or an activation', async () => {
  const customerRef = await createCustomer(paying.client)
  const checked = await paying.client.checkLimit(customerRef, productRef)
  expect(checked).toMatchObject({ withinLimits: false, activationRequired: true })
  const refused = await activate(customerRef)
  expect(refused).toMatchObject({ status: 'payment_required' })
  expect(refused['message']).toContain('saved card')
  expect(await paying.purchasesOf(customerRef)).toEqual([])

  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  await page.goto(refused['checkoutUrl'] as string)
  await page.getByText('You save a card next').waitFor()
  await page.getByText('Usage up to $50.00 in each period before it is billed').waitFor()
  await visitor.inspect('checkout-card-required')
  await page.getByRole('button', { name: 'Continue to your card' }).dblclick()
  await page.getByRole('heading', { name: 'Save a card' }).waitFor()
  await visitor.inspect('checkout-card-entry')
  await page.goto(`${page.url()}/done`)
  await page.getByRole('alert').getByText('No card was entered.').waitFor()
  await enterCard(page, '4000000000000002')
  await page.getByText('Your card was declined.').waitFor()
  expect(await paying.purchasesOf(customerRef)).toEqual([])
  await page.getByLabel('Card number').fill('4000002500003155')
  await page.getByRole('button', { name: /Save/ }).click()
  await page.getByRole('button', { name: 'Yes, it is me' }).click()
  await page.getByRole('heading', { name: 'Done' }).waitFor()
  await visitor.inspect('checkout-card-done')

  expect(await paying.purchasesOf(customerRef)).toMatchObject([{ status: 'active' }])
  expect(await activate(customerRef)).toMatchObject({ status: 'already_active' })
  const [purchase] = await paying.purchasesOf(customerRef)
  expect(purchase).toMatchObject({ amount: 0, planSnapshot: { reference: postPaid } })
  expect(await paying.client.checkLimit(customerRef, productRef)).toMatchObject({
    withinLimits: true,
    remaining: 5_000,
  })
  await visitor.close()
})

test('starts the plan at once for a customer whose card is saved', async () => {
  const customerRef = await createCustomer(paying.client)
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  await page.goto(await paying.portalLink(customerRef))
  await page.getByRole('link', { name: 'Payment' }).click()
  await page.getByRole('button', { name: 'Add a card' }).click()
  await enterCard(page, '4242424242424242')
  await page.getByText('Your card is saved.').waitFor()
  expect(await activate(customerRef)).toMatchObject({ status: 'activated' })
  await visitor.close()
})

test('offers the plan again if the browser did not return after saving the card', async () => {
  const customerRef = await createCustomer(paying.client)
  const { checkoutUrl } = await activate(customerRef)
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  await page.goto(checkoutUrl as string)
  const chosen = page.url()
  await page.getByRole('button', { name: 'Continue to your card' }).click()
  await page.getByRole('heading', { name: 'Save a card' }).waitFor()
  const [, setup = ''] = page.url().split('/card/')
  const fields = { payment_method: 'pm_card_visa', return_url: page.url() }
  const confirm = `setup_intents/${setup.split('/')[0]}/confirm`
  await callProcessor(paying.simulator.url, 'POST', confirm, fields)
  const card = `/v1/sdk/payment-method?customerRef=${customerRef}`
  await expect
    .poll(async () => (await paying.client.send('GET', card)).body, { timeout: 60_000 })
    .toMatchObject({ last4: '4242' })
  expect(await paying.purchasesOf(customerRef)).toEqual([])
  await page.goto(chosen)
  await page.getByRole('button', { name: 'Start now' }).click()
  await page.getByRole('heading', { name: 'Done' }).waitFor()
  expect(await paying.purchasesOf(customerRef)).toMatchObject([{ status: 'active' }])
  await visitor.close()
})

test('starts a trial only with a saved card', async () => {
  const price = { billingCycle: 'monthly', price: 2_900, trialDays: 14 }
  const tried = await createPlan({ name: 'Professional', type: 'recurring', ...price })
  const customerRef = await createCustomer(paying.client)
  const { status, checkoutUrl } = await activate(customerRef, tried)
  expect(status).toBe('payment_required')
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  await page.goto(checkoutUrl as string)
  await page.getByText('It is charged to the card that you save next.').waitFor()
  await visitor.inspect('checkout-card-trial')
  await page.getByRole('button', { name: 'Continue to your card' }).click()
  await enterCard(page, '4242424242424242')
  await page.getByRole('heading', { name: 'Done' }).waitFor()
  expect(await paying.purchasesOf(customerRef)).toMatchObject([{ status: 'trialing' }])
  await visitor.close()
})

test("shows the card setup of a customer only on that customer's checkout", async () => {
  const [one, other] = [await createCustomer(paying.client), await createCustomer(paying.client)]
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  await page.goto((await activate(one))['checkoutUrl'] as string)
  await page.getByRole('button', { name: 'Continue to your card' }).click()
  await page.getByRole('heading', { name: 'Save a card' }).waitFor()
  const [, setup = ''] = page.url().split('/card/')
  await page.goto((await activate(other))['checkoutUrl'] as string)
  const own = page.url()
  for (const rest of ['', '/done']) {
    await page.goto(`${own}/card/${setup}${rest}`)
    await page.getByRole('heading', { name: 'There is nothing here' }).waitFor()
  }
  expect(await paying.purchasesOf(other)).toEqual([])
  await visitor.close()
})
