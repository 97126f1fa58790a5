import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BudgetBody } from '@tollgate/schemas/http/alerts'
import type { UserInfoResponse } from '@tollgate/schemas/http/user-info'
import type { TollgateClient } from '../../src/client/tollgate-client.ts'
import { startStack, type Stack } from '../stack.ts'
import { launchChromium } from './chromium.ts'
import { createVisitor } from './visitor.ts'

/* Alerts and budgets by HTTP and in a real browser, with all services: from usage to a notice, an event and a stop. */

let stack: Stack
let browser: Browser
let client: TollgateClient
let productRef: string
let planRef: string
let plainRef: string
let plainPlanRef: string

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([
    startStack({ settings: { TOLLGATE_ALERT_INTERVAL_MS: '50' } }),
    launchChromium(),
  ])
  client = (await stack.createProvider()).sandbox
  await send('POST', '/v1/ui/meters', { name: 'tokens', aggregation: 'sum' })
  productRef = (await client.createProduct({ name: 'Studio' })).reference
  const studio = {
    name: 'Metered',
    type: 'usage-based',
    billingModel: 'post-paid',
    billingCycle: 'monthly',
    charges: [{ meter: 'tokens', model: 'per_unit', price: '10', cap: 1_000 }],
  }
  planRef = (await client.createPlan(productRef, studio)).reference
  plainRef = (await client.createProduct({ name: 'Maps' })).reference
  const plain = {
    name: 'Plain',
    type: 'usage-based',
    billingModel: 'post-paid',
    billingCycle: 'monthly',
    creditsPerUnit: 1_000,
  }
  plainPlanRef = (await client.createPlan(plainRef, plain)).reference
  await send('POST', '/v1/ui/alerts', { watches: 'limit', thresholds: [{ percent: 5 }] })
})
afterAll(async () => {
  await browser.close()
  await stack.stop()
})

async function send<Body>(method: string, path: string, body?: unknown): Promise<Body> {
  return (await client.require(method, path, body)) as Body
}

let customers = 0

async function subscribe(product = productRef, plan = planRef) {
  customers += 1
  const email = `ada${customers}@example.com`
  const { reference: customerRef } = await client.createCustomer({ email, name: 'Ada' })
  const fields = { customerRef, productRef: product, planRef: plan }
  const { purchaseRef } = await send<{ purchaseRef: string }>('POST', '/v1/sdk/activate', fields)
  return { customerRef, purchaseRef }
}

const use = (customerRef: string, value: number) =>
  send('POST', '/v1/sdk/meter-events', { customerRef, productRef, meterName: 'tokens', value })

const check = (customerRef: string, more: object = {}) =>
  send<Record<string, unknown>>('POST', '/v1/sdk/limits', { customerRef, productRef, ...more })

const userInfo = (customerRef: string, product = productRef) =>
  send<UserInfoResponse>('POST', '/v1/sdk/user-info', { customerRef, productRef: product })

const budgetsOf = async (customerRef: string) =>
  (await send<{ budgets: BudgetBody[] }>('GET', `/v1/ui/customers/${customerRef}/budgets`)).budgets

async function openPurchase(customerRef: string, purchaseRef: string) {
  const session = { customerRef }
  const opened = await send<{ customerUrl: string }>(
    'POST',
    '/v1/sdk/customers/customer-sessions',
    session,
  )
  const { pathname, search } = new URL(opened.customerUrl)
  const visitor = await createVisitor(browser)
  await visitor.page.goto(stack.baseUrl + pathname + search)
  await visitor.page.getByRole('heading', { name: 'Your plans' }).waitFor()
  await visitor.page.goto(`${visitor.page.url()}/purchases/${purchaseRef}`)
  return visitor
}

const patience = { timeout: 20_000, interval: 50 }

test('a customer sets a budget that stops usage, and raises it', async () => {
  const { customerRef, purchaseRef } = await subscribe()
  expect(await userInfo(customerRef)).not.toHaveProperty('reached')
  const visitor = await openPurchase(customerRef, purchaseRef)
  const { page } = visitor
  const budget = page.getByRole('region', { name: 'Budget' })
  await budget.getByLabel('Budget in USD').fill('0')
  await budget.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Enter an amount greater than zero').waitFor()
  await budget.getByLabel('Budget in USD').fill('5.50')
  await budget.getByLabel('When the budget is spent').selectOption('stop')
  await budget.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Your budget is saved.').waitFor()

  await use(customerRef, 54)
  await expect.poll(async () => (await budgetsOf(customerRef))[0]?.spentMinor, patience).toBe(540)
  expect(await check(customerRef)).toMatchObject({ withinLimits: true })
  await use(customerRef, 1)
  await expect.poll(async () => (await check(customerRef))['withinLimits'], patience).toBe(false)
  const blockedBy = { reason: 'budget', limit: 'budget', meterName: 'tokens' }
  const refused = await check(customerRef, { meterName: 'tokens' })
  expect(refused).toMatchObject({ withinLimits: false, remaining: 0, blockedBy, plan: planRef })
  expect(refused['resetsAt']).toEqual((await budgetsOf(customerRef))[0]!.periodEnd)
  const held = await check(customerRef, {
    meterName: 'tokens',
    reserve: { units: 1, ttlSeconds: 60 },
  })
  expect(held).toMatchObject({ withinLimits: false, blockedBy })
  expect(await userInfo(customerRef)).toMatchObject({
    reached: [
      { watches: 'budget', percent: 100, unit: 'minor', currency: 'USD', threshold: 550 },
      { watches: 'limit', limit: 'tokens', percent: 5, threshold: 50 },
    ],
    budget: { amountMinor: 550, action: 'stop', isStopped: true, spentMinor: 550 },
  })

  await page.reload()
  await budget.getByText('$5.50 of $5.50 spent').waitFor()
  await budget.getByText('Usage is stopped until').waitFor()
  await page.getByText('5% of the limit “tokens” is used').waitFor()
  await visitor.inspect('portal-budget-stopped')
  await budget.getByLabel('Budget in USD').fill('20')
  await budget.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Your budget is saved.').waitFor()
  expect(await check(customerRef)).toMatchObject({ withinLimits: true })
  await budget.getByRole('button', { name: 'Remove the budget' }).click()
  await page.getByText('Your budget is removed.').waitFor()
  expect(await budgetsOf(customerRef)).toEqual([])
  await visitor.close()
})

test('a warning shows a notice and stops nothing, on a plan without charges too', async () => {
  const { customerRef, purchaseRef } = await subscribe(plainRef, plainPlanRef)
  const visitor = await openPurchase(customerRef, purchaseRef)
  const { page } = visitor
  const budget = page.getByRole('region', { name: 'Budget' })
  await budget.getByLabel('Budget in USD').fill('1')
  await budget.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Your budget is saved.').waitFor()
  await client.recordUsages([{ customerRef, productRef: plainRef, units: 10 }])
  await expect.poll(async () => (await budgetsOf(customerRef))[0]?.spentMinor, patience).toBe(100)
  const plain = { productRef: plainRef }
  expect(await check(customerRef, plain)).toMatchObject({ withinLimits: true })
  await page.reload()
  await budget.getByText('Your budget is spent. Usage continues.').waitFor()
  await visitor.inspect('portal-budget-warned')
  await budget.getByLabel('When the budget is spent').selectOption('stop')
  await budget.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Your budget is saved.').waitFor()
  expect(await check(customerRef, plain)).toMatchObject({
    withinLimits: false,
    remaining: 0,
    blockedBy: { reason: 'budget', limit: 'budget', meterName: 'requests' },
  })
  await visitor.close()
})

test('a customer cannot set a budget on the purchase of another', async () => {
  const [ada, eve] = [await subscribe(), await subscribe()]
  const visitor = await openPurchase(eve.customerRef, eve.purchaseRef)
  const { page } = visitor
  const action = `${page.url()}/budget`.replace(eve.purchaseRef, ada.purchaseRef)
  const formToken = await page.locator('input[name=formToken]').first().inputValue()
  const form = { formToken, amount: '1', action: 'stop', do: 'save' }
  expect((await page.request.post(action, { form })).status()).toBe(404)
  const own = `${page.url()}/budget`
  expect((await page.request.post(own, { form: { ...form, formToken: 'x' } })).status()).not.toBe(
    200,
  )
  expect(await budgetsOf(ada.customerRef)).toEqual([])
  expect(await budgetsOf(eve.customerRef)).toEqual([])
  await visitor.close()
})
