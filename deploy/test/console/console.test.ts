import { readFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { launchChromium } from '../pages/chromium.ts'
import { createVisitor, type Visitor } from '../pages/visitor.ts'
import { startStack, type Stack } from '../stack.ts'
import { openShop, type ConsoleShop } from './console-shop.ts'
import { copied, getWithKey, sendCommand } from './copied-text.ts'
import { createConsoleUser, quickPasswords, signIn } from './console-users.ts'
import { startReceiver, webhookSettings, type Receiver } from '../webhooks/webhook-world.ts'

/* The console in a real browser, with all services. It runs from its build. */

let stack: Stack
let browser: Browser
let visitor: Visitor
let page: Page
let shop: ConsoleShop
let secretKey: string
let createCustomer: (email: string) => Promise<unknown>
let receiver: Receiver
const patienceMs = 30_000
const owner = 'mary@acme.example'
const member = 'dorothy@acme.example'

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([
    startStack({ settings: { ...quickPasswords, ...webhookSettings }, hasWebhookDispatcher: true }),
    launchChromium(),
  ])
  const { providerId, sandbox, keys } = await stack.createProvider()
  secretKey = keys.sandbox
  await createConsoleUser(stack, providerId, { email: owner, name: 'Mary', role: 'owner' })
  await createConsoleUser(stack, providerId, { email: member, name: 'Dorothy', role: 'member' })
  shop = await openShop(sandbox)
  createCustomer = (email) => sandbox.createCustomer({ email, name: email })
  receiver = await startReceiver(() => 200)
  visitor = await openVisitor()
  page = visitor.page
})
afterAll(async () => {
  await browser.close()
  await receiver.stop()
  await stack.stop()
})

const at = (path: string) => `${stack.baseUrl}/console${path}`
const openVisitor = () =>
  createVisitor(browser, {
    ...{ timezoneId: 'UTC', permissions: ['clipboard-read', 'clipboard-write'] },
  })
const heading = (name: string | RegExp) => page.getByRole('heading', { name }).waitFor()
const dialog = () => page.getByRole('dialog')

test('a deep link leads through the sign-in to its page, in the right environment', async () => {
  await page.goto(at('/sandbox/customers?search=gra'))
  await signIn(page, owner)
  await heading('Customers')
  expect(page.url()).toBe(at('/sandbox/customers?search=gra'))
  await page.getByText('grace@example.com').waitFor()
  expect(await page.getByText('ada@example.com').count()).toBe(0)
  await page.getByLabel('Find a customer').fill('')
  await page.getByText('ada@example.com').waitFor()
  await page.getByText('Sandbox: test data, no real money').waitFor()
  await visitor.inspect('console-customers')
})

test('home shows the numbers of 30 days, and each leads to the list behind it', async () => {
  await page.getByRole('link', { name: 'Home' }).click()
  await heading('Home')
  const tile = (name: string) =>
    page.getByRole('list', { name: 'Numbers' }).getByRole('listitem').filter({ hasText: name })
  await tile('Events').getByText('3 today').waitFor()
  await tile('Active customers').getByText('3 customers in all').waitFor()
  await page.getByText('Nothing needs attention').waitFor()
  await page.locator('.recharts-bar-rectangle path').first().waitFor()
  await visitor.inspect('console-home')
  await tile('Credits sold').getByRole('link').click()
  await page.getByLabel('View of Credits sold').getByText('Table').click()
  expect(await page.getByRole('table', { name: 'Credits sold' }).getByRole('row').count()).toBe(31)
  const command = await copied(page, 'Copy as curl', patienceMs)
  expect(await sendCommand(command, secretKey)).toMatchObject({
    customers: 3,
    total: { events: 3 },
  })
  await page.goto(at('/sandbox'))
  await tile('MRR').getByRole('link').click()
  await heading('Purchases')
  await page.getByText('Weather API: Metered').waitFor()
  await visitor.inspect('console-purchases')
})

test('the usage explorer keeps its query in the address, and hands it out', async () => {
  await page.goto(at('/sandbox/usage'))
  await page.getByText('No usage in this time').waitFor()
  await page.getByRole('combobox', { name: 'Meters' }).click()
  await page.getByRole('option', { name: 'tokens' }).click()
  await page.getByRole('option', { name: 'requests' }).click()
  await page.keyboard.press('Escape')
  await page.getByLabel('Group by').selectOption('customer')
  await page.getByLabel('Compare with the time before').check()
  const tokens = page.getByRole('region', { name: 'tokens' })
  await tokens.getByText(/255 units in 3 records, new against 0/).waitFor()
  await page.locator('.recharts-bar-rectangle path').first().waitFor()
  await visitor.inspect('console-usage')
  await page.getByLabel('View of tokens').getByText('Table').click()
  await page.getByRole('table', { name: 'tokens over time' }).waitFor()
  const address = new URL(page.url())
  expect(address.searchParams.get('zone')).toBe('UTC')
  await page.reload()
  const groups = tokens.getByRole('table', { name: 'Groups of tokens' })
  await groups.getByRole('link', { name: 'ada@example.com' }).waitFor()
  await page.getByRole('table', { name: 'tokens over time' }).waitFor()
  await visitor.inspect('console-usage-table')
  const answer = await sendCommand(await copied(page, 'Copy as curl', patienceMs), secretKey)
  expect(answer).toMatchObject({ groupBy: 'customer', meters: [{ value: 255, count: 3 }] })
  expect(await copied(page, 'Copy as SQL', patienceMs)).toContain('FROM sandbox.usage_by_purchase')
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download CSV' }).click()
  const file = await readFile(await (await download).path(), 'utf8')
  expect(file).toContain('255')
})

test('a refused query of the explorer is explained, and the next one works', async () => {
  await page.goto(at('/sandbox/usage?zone=UTC&product=prd_nobody'))
  await page.getByText('Not found', { exact: true }).waitFor()
  await visitor.inspect('console-usage-refused')
  await page.getByLabel('Product').fill('')
  await page.getByText('No usage in this time').waitFor()
})

test('a page of a list that does not exist leads back to the list', async () => {
  await page.goto(at('/sandbox/customers?page=9'))
  await page.getByText('The list has no such page').waitFor()
  await page.getByRole('button', { name: 'First page' }).click()
  await page.getByRole('link', { name: 'Ada Lovelace' }).waitFor()
})

test('a tab from before an upgrade loads the page again once', async () => {
  const chunk = /\/assets\/keys-page-[^/]*\.js$/
  let requests = 0
  await page.route(chunk, (route) => {
    requests += 1
    return requests === 1 ? route.fulfill({ status: 404 }) : route.continue()
  })
  await page.getByRole('link', { name: 'API keys' }).click()
  await heading('API keys')
  await page.unroute(chunk)
  expect(requests).toBe(2)
})

test('a change of a plan shows its holders, who are moved to the new terms', async () => {
  await page.getByRole('link', { name: 'Products', exact: true }).click()
  await page.getByRole('link', { name: 'Weather API' }).click()
  await heading('Weather API')
  await visitor.inspect('console-product')
  await page.getByRole('link', { name: 'Metered' }).click()
  await page.getByLabel('Price per unit in USD').fill('0.2')
  await page.getByRole('button', { name: 'Review and save' }).click()
  await dialog().getByText('0.1 USD per unit').waitFor()
  await dialog().getByText('0.2 USD per unit').waitFor()
  await dialog().getByText('1 purchase with the plan').waitFor()
  await dialog().getByRole('button', { name: 'Save the plan' }).click()
  await page.getByText('The plan is changed.').waitFor()
  await dialog().waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Move holders to these terms' }).click()
  await dialog().getByRole('table', { name: 'Purchases with the plan' }).waitFor()
  await visitor.inspect('console-move-holders')
  await dialog().getByRole('button', { name: 'Start the move' }).click()
  await page.getByRole('table', { name: 'Moves' }).getByText('running').waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await dialog().getByRole('button', { name: 'Pause the move' }).click()
  await page.getByRole('table', { name: 'Moves' }).getByText('paused').waitFor()
  await visitor.inspect('console-plan-moves')
})

test('a customer shows its usage, purchases, credits and invoices', async () => {
  await page.goto(at('/sandbox/customers'))
  await page.getByRole('link', { name: 'Ada Lovelace' }).click()
  await heading('Ada Lovelace')
  await page.getByText('255 units in 3 records.').waitFor()
  await page.locator('.recharts-bar-rectangle path').first().waitFor()
  await page.getByText('Weather API: Metered').waitFor()
  await page.getByText('tokens: 255 of 1,000').waitFor()
  await page.getByText('5,000 credits').waitFor()
  await page.getByRole('link', { name: shop.invoiceNumber }).waitFor()
  await visitor.inspect('console-customer')
})

test('credits are granted once the API says so, and the page shows them', async () => {
  await page.getByRole('button', { name: 'Grant credits' }).click()
  await dialog().getByLabel('Credits').fill('500')
  await dialog().getByLabel('Reason').fill('An apology')
  await visitor.inspect('console-grant')
  await dialog().getByRole('button', { name: 'Grant 500 credits' }).click()
  await page.getByText('Granted 500 credits.').waitFor()
  await page.getByText('5,500 credits').waitFor()
  await page.getByText('An apology').waitFor()
  await dialog().waitFor({ state: 'hidden' })
})

test('a purchase is cancelled after the console said what happens', async () => {
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await dialog()
    .getByText(/Access (ends now|continues until)/)
    .waitFor()
  await visitor.inspect('console-cancel')
  await dialog().getByRole('button', { name: 'Cancel the purchase' }).click()
  await page.getByText('The purchase is cancelled.').waitFor()
  await dialog().waitFor({ state: 'hidden' })
})

test('an invoice opens its lines down to the numbers behind them', async () => {
  await page.getByRole('link', { name: 'Invoices', exact: true }).click()
  await page.getByRole('link', { name: shop.invoiceNumber }).click()
  await heading(`Invoice ${shop.invoiceNumber}`)
  await page.getByText('$475.00').first().waitFor()
  await page.getByRole('button', { name: /Hours of support/ }).click()
  await page.getByText('22,500', { exact: true }).first().waitFor()
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download PDF' }).click()
  expect((await download).suggestedFilename()).toBe(`invoice-${shop.invoiceNumber}.pdf`)
  await visitor.inspect('console-invoice')
  await page.getByRole('link', { name: 'Invoices', exact: true }).click()
  await page.getByLabel('Status').selectOption('paid')
  await page.getByText('No invoice is paid').waitFor()
  await visitor.inspect('console-invoices')
})

test('a plan is created, tried, reviewed and saved', async () => {
  await page.getByRole('link', { name: 'Products', exact: true }).click()
  await page.getByRole('button', { name: 'Create a product' }).click()
  await dialog().getByLabel('Name').fill('Studio')
  await dialog().getByRole('button', { name: 'Create the product' }).click()
  await heading('Studio')
  await page.getByText('No plans yet').waitFor()
  await page.getByRole('button', { name: 'Create a plan' }).click()
  await dialog().getByLabel('Name').fill('Team')
  await dialog().getByLabel('What customers pay for').selectOption('hybrid')
  await dialog().getByRole('button', { name: 'Create the plan' }).click()
  await heading('Team')
  await page.getByLabel('Price in USD').fill('49.9')
  await page.getByRole('button', { name: 'Add a charge' }).click()
  const charge = page.getByRole('group', { name: /^Charge 1/ })
  await charge.getByLabel('Meter').selectOption('tokens')
  // A charge without a price is refused before it is saved, with the reason of the API.
  await page.getByText('This was refused').waitFor()
  await charge.getByLabel('Model').selectOption('graduated')
  await charge.getByRole('button', { name: 'Add a tier' }).click()
  const tier = (number: number) => charge.getByRole('group', { name: `Tier ${number}` })
  await tier(1).getByLabel('up to').fill('1000')
  await tier(1).getByLabel('Price per unit').fill('0.02')
  await tier(2).getByLabel('Price per unit').fill('0.005')
  await page.getByLabel('Status').selectOption('active')
  await page.getByLabel('Up to units').fill('3000')
  // 1,000 × $0.02 + 500 × $0.005 beside the price of the period.
  await page.getByText('For 1,500 units, the customer pays $72.40, and $0.00 as saved').waitFor()
  await visitor.inspect('console-plan')
  await page.getByLabel('View of Price over usage').getByText('Table').click()
  const prices = page.getByRole('table', { name: 'Price over usage' })
  await prices.getByRole('row', { name: '3,000 $0.00 $79.90' }).waitFor()
  await page.getByRole('button', { name: 'Review and save' }).click()
  await dialog().getByText('No purchase has this plan yet.').waitFor()
  await dialog().getByText('Up to 1,000: 0.02 USD per unit').waitFor()
  await visitor.inspect('console-plan-review')
  await dialog().getByRole('button', { name: 'Save the plan' }).click()
  await page.getByText('The plan is changed.').waitFor()
  await page.getByText(/the customer pays \$/).waitFor()
  expect(await page.getByRole('button', { name: 'Review and save' }).count()).toBe(0)
})

test('a webhook endpoint is added and tested, and its deliveries show answers and events', async () => {
  await page.getByRole('link', { name: 'Webhooks' }).click()
  await page.getByText('No endpoints yet').waitFor()
  await page.getByRole('button', { name: 'Add an endpoint' }).click()
  await dialog().getByLabel('Address').fill(receiver.url)
  await dialog().getByRole('button', { name: 'Add the endpoint' }).click()
  await dialog()
    .getByText(/^whsec_/)
    .waitFor()
  await dialog().getByRole('button', { name: 'Close' }).click()
  await page.getByRole('link', { name: receiver.url }).click()
  await page.getByRole('button', { name: 'Send a test' }).click()
  await dialog().getByRole('button', { name: 'Send the test' }).click()
  await dialog()
    .getByText(/accepted the event: status 200/)
    .waitFor()
  await visitor.inspect('console-webhook-test')
  await dialog().getByText('Close', { exact: true }).click()
  await createCustomer('alan@example.com')
  // The result of an attempt is stored after the receiver has answered.
  const succeeded = async () => {
    const url = `${stack.baseUrl}/v1/ui/webhook-deliveries?state=succeeded`
    return JSON.stringify(await getWithKey(url, secretKey)).includes('customer.created')
  }
  const received = (count: number) =>
    vi.waitUntil(
      () =>
        receiver.received.filter(({ body }) => body.includes('alan@example.com')).length === count,
      patienceMs,
    )
  await received(1)
  await vi.waitUntil(succeeded, patienceMs)
  await page.reload()
  await page.getByRole('link', { name: 'customer.created' }).click()
  await page.getByRole('heading', { name: 'Attempts' }).waitFor()
  await page.getByText('"alan@example.com"').waitFor()
  await page.getByRole('button', { name: /Attempt 1: 200/ }).click()
  await page.getByText('{"received":true}').waitFor()
  await visitor.inspect('console-delivery')
  await page.getByRole('button', { name: 'Replay' }).click()
  await dialog().getByRole('button', { name: 'Send it again' }).click()
  await page.getByText('The event is sent again.').waitFor()
  await received(2)
  await page.getByRole('link', { name: /^we_/ }).click()
  await page.getByRole('table', { name: 'Deliveries' }).waitFor()
  await visitor.inspect('console-endpoint')
})

test('a key is created, shown once and revoked', async () => {
  await page.getByRole('link', { name: 'API keys' }).click()
  await page.getByRole('button', { name: 'Create a key' }).click()
  await dialog().getByLabel('Name').fill('crawler')
  await dialog().getByRole('button', { name: 'Create the key' }).click()
  await dialog()
    .getByText(/^sk_sandbox_/)
    .waitFor()
  await page.mouse.click(5, 400)
  await page.keyboard.press('Escape')
  await dialog()
    .getByText(/^sk_sandbox_/)
    .waitFor()
  await dialog().getByRole('button', { name: 'Close' }).click()
  await dialog().waitFor({ state: 'hidden' })
  expect(await page.getByText(/sk_sandbox_\w{40}/).count()).toBe(0)
  await visitor.inspect('console-keys')
  const row = page.getByRole('row', { name: /crawler/ })
  await row.getByRole('button', { name: 'Revoke' }).click()
  await dialog().getByRole('button', { name: 'Revoke the key' }).click()
  await page.getByText('The key crawler is revoked.').waitFor()
  await row.getByText('revoked').waitFor()
  await page.getByRole('link', { name: 'Audit log' }).click()
  const entries = page.getByRole('table', { name: 'Audit log' }).getByRole('row')
  await entries.filter({ hasText: 'Changed api keys' }).first().waitFor()
  await visitor.inspect('console-audit')
})

test('the switch leads to the live environment, which has nothing of the sandbox', async () => {
  await page.getByText('Live', { exact: true }).click()
  await page.getByText('Live: real customers and real money').waitFor()
  await page.getByText('First steps in live').waitFor()
  await visitor.inspect('console-live')
  await page.getByRole('link', { name: 'Customers', exact: true }).click()
  await page.getByText('No customers yet').waitFor()
  await page.goto(at(`/live/customers/${shop.customerRef}`))
  await page.getByText('Not found', { exact: true }).waitFor()
  await visitor.inspect('console-failure')
})

test('the palette opens pages from the keyboard', async () => {
  await page.goto(at('/sandbox'))
  await heading('Home')
  await page.keyboard.press('Control+k')
  await page.getByLabel('Open a page').fill('Invo')
  await page.keyboard.press('Enter')
  await heading('Invoices')
})

test('a member sees actions with the reason why they are refused', async () => {
  const other = await openVisitor()
  await other.page.goto(at(`/sandbox/customers/${shop.customerRef}`))
  await signIn(other.page, member)
  const grant = other.page.getByRole('button', { name: 'Grant credits' })
  await grant.waitFor()
  expect(await grant.getAttribute('aria-disabled')).toBe('true')
  await grant.hover()
  await other.page.getByText('Your role (member) can only view.').waitFor()
  await grant.click({ force: true })
  expect(await other.page.getByRole('dialog').count()).toBe(0)
  await other.page.goto(at('/sandbox/keys'))
  await other.page.getByText('Not shown').waitFor()
  await other.inspect('console-member')
  await other.close()
})

test('signing out ends the session, and the page leads to the sign-in', async () => {
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await heading('Sign in')
  await page.goto(at('/live/customers'))
  await heading('Sign in')
})
