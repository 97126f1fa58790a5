import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchChromium } from '../pages/chromium.ts'
import { createVisitor, type Visitor } from '../pages/visitor.ts'
import { startStack, type Stack } from '../stack.ts'
import { createConsoleUser, quickPasswords, signIn } from './console-users.ts'

/* Pages of the console while other users and programs make changes, and while a user types. */

let stack: Stack
let browser: Browser
let visitor: Visitor
let page: Page
let productPath: string
let planPath: string
let send: (method: string, path: string, body?: Record<string, unknown>) => Promise<unknown>
const owner = 'mary@acme.example'
const admin = 'grace@acme.example'
const member = 'dorothy@acme.example'

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([
    startStack({ settings: quickPasswords }),
    launchChromium(),
  ])
  const { providerId, sandbox } = await stack.createProvider()
  await createConsoleUser(stack, providerId, { email: owner, name: 'Mary', role: 'owner' })
  await createConsoleUser(stack, providerId, { email: admin, name: 'Grace', role: 'admin' })
  await createConsoleUser(stack, providerId, { email: member, name: 'Dorothy', role: 'member' })
  send = (method, path, body) => sandbox.require(method, path, body)
  await send('POST', '/v1/ui/meters', { name: 'tokens', aggregation: 'sum' })
  const { reference: productRef } = await sandbox.createProduct({ name: 'Studio' })
  const { reference: planRef } = await sandbox.createPlan(productRef, {
    ...{ name: 'Team', type: 'hybrid', billingModel: 'post-paid', billingCycle: 'monthly' },
    ...{ basePrice: 4_990, charges: [{ meter: 'tokens', model: 'per_unit', price: '10' }] },
  })
  productPath = `/products/${productRef}`
  planPath = `${productPath}/plans/${planRef}`
  visitor = await createVisitor(browser, { timezoneId: 'UTC' })
  page = visitor.page
  await page.goto(at('/sandbox'))
  await signIn(page, owner)
  await page.getByRole('heading', { name: 'Home' }).waitFor()
})
afterAll(async () => {
  await browser.close()
  await stack.stop()
})

const at = (path: string) => `${stack.baseUrl}/console${path}`
const dialog = () => page.getByRole('dialog')

/** Waits until the address has the query. */
const atQuery = (query: Record<string, string>) =>
  page.waitForURL(({ searchParams }) =>
    Object.entries(query).every(([name, value]) => searchParams.get(name) === value),
  )

test('changes that began before another save stay on the page, and are not saved', async () => {
  await page.goto(at(`/sandbox${productPath}`))
  await page.getByText('$49.90 monthly').waitFor()
  await page.getByRole('link', { name: 'Team' }).click()
  const price = page.getByLabel('Price in USD')
  const setupFee = page.getByLabel('Set-up fee in USD')
  const review = () => page.getByRole('button', { name: 'Review and save' }).click()
  const discard = async () => {
    await dialog().getByText('The plan was saved meanwhile').waitFor()
    expect(await dialog().getByRole('button', { name: 'Save the plan' }).count()).toBe(0)
    expect(await price.inputValue()).toBe('59.9')
    await dialog().getByRole('button', { name: 'Discard my changes' }).click()
    await dialog().waitFor({ state: 'hidden' })
    expect(await price.inputValue()).toBe('49.9')
  }
  await price.fill('59.9')
  await send('PUT', `/v1/sdk${planPath}`, { setupFee: 1_000 })
  await review()
  await dialog().getByText('The plan was saved meanwhile').waitFor()
  await visitor.inspect('console-plan-outdated')
  await discard()
  expect(await setupFee.inputValue()).toBe('10')
  // The plan is also saved while the review is open.
  await price.fill('59.9')
  await review()
  await dialog().getByText('No purchase has this plan yet.').waitFor()
  await send('PUT', `/v1/sdk${planPath}`, { setupFee: 2_000 })
  await dialog().getByRole('button', { name: 'Save the plan' }).click()
  await discard()
  expect(await setupFee.inputValue()).toBe('20')
  await price.fill('59.9')
  await review()
  await dialog().getByRole('button', { name: 'Save the plan' }).click()
  await page.getByText('The plan is changed.').waitFor()
  await dialog().waitFor({ state: 'hidden' })
  expect(await price.inputValue()).toBe('59.9')
  expect(await page.getByText('The plan was saved meanwhile').count()).toBe(0)
  const plan = await send('GET', `/v1/sdk${planPath}`)
  expect(plan).toMatchObject({ price: 0, basePrice: 5_990, setupFee: 2_000 })
})

test('a year that is typed does not move the other end of the range', async () => {
  await page.goto(at('/sandbox/usage?zone=UTC&from=2026-03-01&to=2026-03-31'))
  const to = page.getByLabel('To, this day included')
  // While the year 2026 is typed, the field has the year 2.
  await to.fill('0002-04-15')
  await to.fill('2026-04-15')
  await atQuery({ from: '2026-03-01', to: '2026-04-15' })
  await to.fill('2026-02-10')
  await to.blur()
  await atQuery({ from: '2026-02-10', to: '2026-02-10' })
})

test('a field of the audit log applies when another one is filled before its pause is over', async () => {
  await page.goto(at('/sandbox/audit'))
  await page.getByLabel('Actor').fill('key:key_none')
  await page.getByLabel('Reference').fill('pln_none')
  await page.getByText('No entries').waitFor()
  await atQuery({ actor: 'key:key_none', reference: 'pln_none' })
})

const actionIn = (shown: Page, email: string, name: string) =>
  shown.getByRole('row', { name: email }).getByRole('button', { name })

test('the last owner cannot be removed or changed, and the reason is shown', async () => {
  await page.goto(at('/sandbox/members'))
  for (const name of ['Role', 'Remove']) {
    await actionIn(page, owner, name).waitFor()
    expect(await actionIn(page, owner, name).getAttribute('aria-disabled'), name).toBe('true')
    expect(await actionIn(page, admin, name).getAttribute('aria-disabled'), name).toBeNull()
  }
  await visitor.inspect('console-members')
  await actionIn(page, owner, 'Remove').hover()
  await page.getByText('This person is the last owner.').waitFor()
})

test('an admin can neither change owners nor appoint them', async () => {
  const other = await createVisitor(browser, { timezoneId: 'UTC' })
  await other.page.goto(at('/sandbox/members'))
  await signIn(other.page, admin)
  for (const name of ['Role', 'Password link', 'Remove']) {
    const onOwner = actionIn(other.page, owner, name)
    await onOwner.waitFor()
    expect(await onOwner.getAttribute('aria-disabled'), name).toBe('true')
    const onMember = actionIn(other.page, member, name)
    expect(await onMember.getAttribute('aria-disabled'), name).toBeNull()
  }
  await other.page.getByRole('button', { name: 'Invite a person' }).click()
  const roles = other.page.getByRole('dialog').getByLabel('Role')
  expect(await roles.locator('option:disabled').allTextContents()).toEqual([
    'Owner: can also appoint owners',
  ])
  await other.page.getByText('Only owners can appoint, change or remove owners.').waitFor()
  await other.inspect('console-invite')
  await other.close()
})
