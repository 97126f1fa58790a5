import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { createCustomer } from '../offers.ts'
import { enterCard, startPayingStack, type PayingStack } from './paying.ts'
import { createVisitor } from './visitor.ts'

/* Payments at checkout in a real browser, with all services and the simulator of Stripe. */

let paying: PayingStack
let productRef: string
let planRef: string

beforeAll(async () => {
  paying = await startPayingStack()
  const { client, send } = paying
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

afterAll(() => paying.stop())

describe('a plan', () => {
  test('is paid by card, including the set-up fee', async () => {
    const customerRef = await createCustomer(paying.client)
    const visitor = await createVisitor(paying.browser)
    const { page } = visitor
    await page.goto(await paying.checkoutLink({ customerRef, productRef, planRef }))
    const due = page.getByRole('region', { name: 'What is due' })
    await expect(due.innerText()).resolves.toMatch(/\$49\.00[^]*\$10\.00[^]*Due today[^]*\$59\.00/)
    await visitor.inspect('checkout-due')
    await page.getByRole('button', { name: 'Continue to payment' }).click()
    await page.getByRole('heading', { name: 'Pay $59.00' }).waitFor()
    await visitor.inspect('checkout-payment')
    await enterCard(page, '4242424242424242')
    await page.getByRole('heading', { name: 'Professional is active' }).waitFor()
    const done = await page.getByRole('main').innerText()
    expect(done).toMatch(/Paid today\s+\$59\.00[^]*Next charge\s+\$49\.00 on /)
    expect(done).toContain('Visa ending in 4242')
    await visitor.inspect('checkout-done-paid')
    const invoice = page.getByRole('link', { name: /^TEST-INV-/ })
    const pdf = await page.request.get(
      new URL((await invoice.getAttribute('href'))!, page.url()).href,
    )
    expect([pdf.status(), pdf.headers()['content-type']]).toEqual([200, 'application/pdf'])
    await page.getByRole('button', { name: 'Open your account' }).click()
    await page.getByRole('article', { name: 'Weather API' }).getByText('Professional').waitFor()
    expect(await paying.purchasesOf(customerRef)).toMatchObject([
      { status: 'active', amount: 5_900, originalAmount: 5_900, currency: 'USD' },
    ])
    await visitor.close()
  })

  test('is paid in another currency in which it is sold', async () => {
    const customerRef = await createCustomer(paying.client)
    const visitor = await createVisitor(paying.browser, { locale: 'de-DE' })
    const { page } = visitor
    await page.goto(await paying.checkoutLink({ customerRef, productRef, planRef }))
    await page.getByRole('link', { name: 'EUR' }).click()
    await page.getByText('54,00 €').waitFor()
    await page.getByRole('button', { name: 'Weiter zur Zahlung' }).click()
    await enterCard(page, '5555555555554444')
    await page.getByRole('heading', { name: 'Professional ist aktiv' }).waitFor()
    await page.getByText('Mastercard mit Endziffern 4444').waitFor()
    expect(await paying.purchasesOf(customerRef)).toMatchObject([
      { originalAmount: 5_400, currency: 'EUR', status: 'active' },
    ])
    await visitor.close()
  })

  test('does not start with a declined card, and starts with the next one', async () => {
    const customerRef = await createCustomer(paying.client)
    const visitor = await createVisitor(paying.browser)
    const { page } = visitor
    await page.goto(await paying.checkoutLink({ customerRef, productRef, planRef }))
    await page.getByRole('button', { name: 'Continue to payment' }).click()
    const payment = page.url()
    await page.getByRole('button', { name: 'Enter card' }).click()
    await page.getByRole('heading', { name: 'Pay by card' }).waitFor()
    await visitor.inspect('simulator-card')
    // From here the test only uses the keyboard. A test card is a link, and choosing one moves the focus to the button.
    await pressTabTo(page, /^Declined 4000/)
    await page.keyboard.press('Enter')
    await page.waitForURL(/number=/)
    expect(await page.getByLabel('Card number').inputValue()).toBe('4000 0000 0000 0002')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('Your card was declined.').waitFor()
    await page.getByText('A payment of $59.00.').waitFor()
    expect(await page.getByLabel('Card number').inputValue()).toBe('4000 0000 0000 0002')
    await visitor.inspect('simulator-declined')
    await page.goto(payment.replace('/pay/', '/paid/'))
    await page.getByRole('alert').getByText('did not go through').waitFor()
    await visitor.inspect('checkout-declined')
    expect(await paying.purchasesOf(customerRef)).toEqual([])
    await enterCard(page, '4242424242424242')
    await page.getByRole('heading', { name: 'Done' }).waitFor()
    expect(await paying.purchasesOf(customerRef)).toHaveLength(1)
    await visitor.close()
  })

  test.each([
    ['Yes, it is me', 'Done', 1],
    ['No', 'Pay $59.00', 0],
  ])("waits for the customer's answer to the bank: %s", async (answer, heading, purchases) => {
    const customerRef = await createCustomer(paying.client)
    const visitor = await createVisitor(paying.browser)
    const { page } = visitor
    await page.goto(await paying.checkoutLink({ customerRef, productRef, planRef }))
    await page.getByRole('button', { name: 'Continue to payment' }).click()
    await enterCard(page, '4000002760003184')
    await page.getByRole('button', { name: answer }).click()
    await page.getByRole('heading', { name: heading }).waitFor()
    expect(await paying.purchasesOf(customerRef)).toHaveLength(purchases)
    await visitor.close()
  })

  test('is charged once, however often the customer repeats the steps', async () => {
    const customerRef = await createCustomer(paying.client)
    const visitor = await createVisitor(paying.browser)
    const { page } = visitor
    const link = await paying.checkoutLink({ customerRef, productRef, planRef })
    await page.goto(link)
    await page.getByRole('button', { name: 'Continue to payment' }).click()
    const payment = page.url()
    await page.goto(link)
    await page.getByRole('button', { name: 'Continue to payment' }).click()
    expect(page.url()).toBe(payment)
    await enterCard(page, '4242424242424242')
    await page.getByRole('heading', { name: 'Done' }).waitFor()
    for (const again of [payment, payment.replace('/pay/', '/paid/')]) {
      await page.goto(again)
      await page.getByRole('heading', { name: 'Done' }).waitFor()
    }
    expect(await paying.purchasesOf(customerRef)).toHaveLength(1)
    await visitor.close()
  })
})

/** Presses Tab until an element with a matching text has the focus. */
async function pressTabTo(page: Page, text: RegExp): Promise<void> {
  const focused = "document.activeElement.innerText.replace(/\\s+/g, ' ')"
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press('Tab')
    if (text.test(await page.evaluate<string>(focused))) return
  }
  throw new Error(`No element with the text ${text.source} gets the focus.`)
}

test('returns to the portal after buying credits', async () => {
  const customerRef = await createCustomer(paying.client)
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  await page.goto(await paying.portalLink(customerRef))
  await page.getByRole('link', { name: 'Credits' }).click()
  await page.getByRole('button', { name: 'Buy credits' }).click()
  await page.getByText('At least $1.00').waitFor()
  await page.getByRole('link', { name: '$25.00' }).click()
  await page.getByText('You will receive 250,000 credits.').waitFor()
  await visitor.inspect('checkout-credits-preset')
  await page.getByLabel('Amount').fill('0,10')
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await page.getByRole('alert').getByText('must be at least $1.00').waitFor()
  await visitor.inspect('checkout-credits')
  // The error has its own URL: a reload sends nothing again, and a screen reader starts with the error.
  await page.reload()
  await page.locator('[role=alert]:focus').getByText('must be at least').waitFor()
  await expect(page.getByLabel('Amount').inputValue()).resolves.toBe('0,10')
  const refused = page.url()
  await page.getByLabel('Amount').fill('100000,01')
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await page.getByRole('alert').getByText('must not exceed $100,000.00').waitFor()
  await page.getByLabel('Amount').fill('12,50')
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await page.getByRole('heading', { name: 'Pay $12.50' }).waitFor()
  await page.goBack()
  await page.goBack()
  await page.waitForURL(refused)
  await page.getByRole('heading', { name: 'Buy credits' }).waitFor()
  await page.getByLabel('Amount').fill('12,50')
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await page.getByRole('heading', { name: 'Pay $12.50' }).waitFor()
  await enterCard(page, '4242424242424242')
  await page.getByRole('heading', { name: '125,000 credits added' }).waitFor()
  await visitor.inspect('checkout-done-credits')
  await page.getByRole('link', { name: 'Back to Test' }).click()
  await page.getByRole('link', { name: 'Credits' }).click()
  await page.getByText('125,000 credits').waitFor()
  await page.getByText('Credits bought').waitFor()
  await visitor.inspect('portal-credits-bought')
  await visitor.close()
})

test('shows invoices in the portal with the card that paid them', async () => {
  const customerRef = await createCustomer(paying.client)
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  await page.goto(await paying.checkoutLink({ customerRef, productRef, planRef }))
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await enterCard(page, '4242424242424242')
  await page.getByRole('heading', { name: 'Done' }).waitFor()
  await page.goto(await paying.portalLink(customerRef))
  await page.getByRole('link', { name: 'Invoices' }).click()
  const row = page.getByRole('row', { name: '$59.00' })
  await row.getByText('Paid', { exact: true }).waitFor()
  await row.getByText('ending in 4242').waitFor()
  await visitor.inspect('portal-invoices-paid')
  await page.setViewportSize({ width: 390, height: 844 })
  await expect(page.evaluate(brokenDates)).resolves.toEqual([])
  const link = await row.getByRole('link', { name: /^Download/ }).getAttribute('href')
  const pdf = await page.request.get(new URL(link!, page.url()).href)
  expect(pdf.headers()['content-type']).toBe('application/pdf')
  expect((await pdf.body()).subarray(0, 5).toString()).toBe('%PDF-')
  await visitor.close()
})

/** Script that finds dates and numbers broken across lines, and lists wider than the page. */
const brokenDates = `(() => {
  const isBroken = (element) => {
    const range = document.createRange()
    range.selectNodeContents(element)
    return new Set([...range.getClientRects()].map(({ bottom }) => bottom)).size > 1
  }
  const dates = [...document.querySelectorAll('.whole')].filter(isBroken)
  const lists = [...document.querySelectorAll('.scroll')]
  const wide = lists.filter((list) => list.scrollWidth > list.clientWidth)
  return [...dates, ...wide].map((element) => element.textContent)
})()`

test('says that a plan does not renew, before and after it is bought', async () => {
  const plan = { name: 'Once', type: 'recurring', billingCycle: 'monthly', price: 900 }
  const once = await paying.client.createPlan(productRef, { ...plan, autoRenew: false })
  const customerRef = await createCustomer(paying.client)
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  const of = { customerRef, productRef, planRef: once.reference }
  await page.goto(await paying.checkoutLink(of))
  await page.getByText('Ends after one month and does not renew').waitFor()
  await page.getByText('It does not renew: nothing more is charged for it.').waitFor()
  await expect(page.getByText('Renews').count()).resolves.toBe(0)
  await visitor.inspect('checkout-once')
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await enterCard(page, '4242424242424242')
  await page.getByRole('heading', { name: 'Done' }).waitFor()
  await page.goto(await paying.portalLink(customerRef))
  const card = page.getByRole('article', { name: 'Weather API' })
  await card.getByText('Ends', { exact: true }).waitFor()
  await expect(card.getByText('Renews').count()).resolves.toBe(0)
  await visitor.close()
})

test('deducts the value of the replaced plan', async () => {
  const team = { name: 'Team', type: 'recurring', billingCycle: 'monthly', price: 9_900 }
  const { reference: teamRef } = await paying.client.createPlan(productRef, team)
  const customerRef = await createCustomer(paying.client)
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  await page.goto(await paying.checkoutLink({ customerRef, productRef, planRef }))
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await enterCard(page, '4242424242424242')
  await page.getByRole('heading', { name: 'Professional is active' }).waitFor()
  await page.goto(await paying.checkoutLink({ customerRef, productRef, planRef: teamRef }))
  await page
    .getByText('This replaces Professional today. Its unused time, worth $49.00, is credited')
    .waitFor()
  const due = await page.getByRole('region', { name: 'What is due' }).innerText()
  expect(due).toMatch(
    /Team until [^]*\$99\.00[^]*Unused time on Professional\s+-\$49\.00[^]*Due today\s+\$50\.00[^]*Next charge\s+\$99\.00 on /,
  )
  expect(due).toContain('replaces Visa ending in 4242')
  await visitor.inspect('checkout-replaces')
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await page.getByRole('heading', { name: 'Pay $50.00' }).waitFor()
  await visitor.close()
})

test('can be completed by keyboard alone, including the card', async () => {
  const customerRef = await createCustomer(paying.client)
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  await page.goto(await paying.checkoutLink({ customerRef, productRef }))
  await pressAt(page, 'Choose Professional', 'Enter')
  await page.getByRole('heading', { name: 'Professional' }).waitFor()
  await pressAt(page, 'I am buying for a business', 'Space', 'Buying for a business?')
  await pressAt(page, 'Continue to payment', 'Enter')
  await page.getByText('Please check your billing details.').waitFor()
  await pressAt(page, 'I am buying for a business', 'Space')
  await pressAt(page, 'Continue to payment', 'Space')
  await page.getByRole('heading', { name: 'Pay $59.00' }).waitFor()
  await pressAt(page, 'Enter card', 'Enter')
  await page.getByLabel('Card number').waitFor()
  await tabTo(page, 'Card number')
  await page.keyboard.type('4242424242424242')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Professional is active' }).waitFor()
  await pressAt(page, 'Open your account', 'Enter')
  await page.getByRole('article', { name: 'Weather API' }).waitFor()
  await visitor.close()
})

/** Presses a key on a control reached with Tab, after opening the section that contains it. */
async function pressAt(page: Page, name: string, key: 'Enter' | 'Space', folded?: string) {
  if (folded !== undefined) {
    await tabTo(page, folded)
    await page.keyboard.press('Enter')
  }
  await tabTo(page, name)
  await page.keyboard.press(key)
}

/** More controls than any page of the checkout has. */
const controlsMax = 60

async function tabTo(page: Page, name: string): Promise<void> {
  for (let pressed = 0; pressed < controlsMax; pressed += 1) {
    await page.keyboard.press('Tab')
    if ((await page.evaluate<string>(focusedName)) === name) return
  }
  throw new Error(`${name} is not reached with Tab on ${page.url()}`)
}

const focusedName = `(() => {
  const focused = document.activeElement
  const label = focused.getAttribute('aria-label') ?? focused.labels?.[0]?.innerText
  return (label ?? focused.innerText ?? '').trim()
})()`

test('does not show a payment of another customer', async () => {
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  const [one, other] = [await createCustomer(paying.client), await createCustomer(paying.client)]
  await page.goto(await paying.checkoutLink({ customerRef: one, productRef, planRef }))
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  const [, intentRef = ''] = page.url().split('/pay/')
  await page.goto(await paying.checkoutLink({ customerRef: other, productRef, planRef }))
  await page.goto(`${page.url()}/pay/${intentRef}`)
  await page.getByRole('heading', { name: 'There is nothing here' }).waitFor()
  await visitor.close()
})
