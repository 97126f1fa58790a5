import { describe, expect, test, vi } from 'vitest'
import { saveTaxDetails } from '@tollgate/domain/tax/tax-details-repository'
import { formTokenOf } from '../src/pages/cookies.ts'
import { Wallets } from '../src/wallets/wallets.ts'
import {
  stack,
  tenant,
  productRef,
  plans,
  call,
  createCustomer,
  open,
  cookiesOf,
  openLink,
  take,
  answerTo,
  refuse,
  pageOf,
  accountForm,
  useCheckoutPages,
  type Opened,
} from './checkout-pages.ts'

/* The last page of a checkout, and where it leads. */

useCheckoutPages()

describe('from a completed checkout to the portal', () => {
  async function complete(): Promise<Opened> {
    const opened = await open(await createCustomer())
    expect(await take(opened, 'activate', plans['free'])).toBe(303)
    return opened
  }

  test('opens the portal in one browser, once', async () => {
    const opened = await complete()
    expect(await pageOf(opened.path, opened.cookie)).toContain(accountForm)
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => answerTo(opened, 'account', undefined)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 410, 410, 410])
    const letIn = answers.find(({ status }) => status === 303)
    const [cookie = ''] = letIn?.headers.get('set-cookie')?.split(';') ?? []
    const portal = letIn?.headers.get('location') ?? ''
    expect(portal).toMatch(/^\/customer\/manage\/[0-9a-f]{20}$/)
    expect(await pageOf(portal, cookie)).toContain('free')
    expect(await pageOf(opened.path, opened.cookie)).not.toContain(accountForm)
  })

  test('opens the portal only in the browser that completed the checkout', async () => {
    const opened = await open(await createCustomer())
    const other = await openLink(opened.sessionId)
    const [withoutBrowser = ''] = opened.cookie.split('; ')
    expect(await take(opened, 'activate', plans['free'])).toBe(303)
    for (const cookie of [other.cookie, withoutBrowser]) {
      const page = await pageOf(opened.path, cookie)
      expect(page).toContain('You can close this window')
      expect(page).not.toContain(accountForm)
      expect(await take({ ...opened, cookie }, 'account', undefined)).toBe(410)
    }
    expect(await mayChangePlanAfterTopUp(other)).toBe(false)
    expect(await mayChangePlanAfterTopUp(opened)).toBe(true)
    expect(await take(opened, 'account', undefined)).toBe(303)
  })

  test('opens no portal if two browsers have sent forms', async () => {
    const opened = await open(await createCustomer())
    const other = await openLink(opened.sessionId)
    await refuse(other, 'pay', 'free')
    expect(await take(opened, 'activate', plans['free'])).toBe(303)
    for (const each of [opened, other]) expect(await take(each, 'account', undefined)).toBe(410)
  })

  async function mayChangePlanAfterTopUp(opened: Opened): Promise<boolean> {
    const answer = await answerTo(opened, 'credits', undefined)
    const link = new URL(answer.headers.get('location') ?? '', 'http://localhost')
    const [session] = await stack.database.in('sandbox')`
      select may_change_plan from checkout_sessions
      where session_id = ${link.searchParams.get('id')}`
    return session?.['may_change_plan'] as boolean
  }

  test('links back to the portal in which it was opened', async () => {
    const before = await complete()
    const letIn = await answerTo(before, 'account', undefined)
    const portal = letIn.headers.get('location') ?? ''
    const cookie = cookiesOf(letIn)
    const body = new URLSearchParams({
      formToken: formTokenOf(cookie.split('.')[1] ?? ''),
      plan: '',
    })
    const init = { method: 'POST', body, headers: { cookie }, redirect: 'manual' } as const
    const redirect = await stack.fetch(`${portal}/products/${productRef}/plans`, init)
    const link = new URL(redirect.headers.get('location') ?? '', 'http://localhost')
    const opened = await openLink(link.searchParams.get('id') ?? '')
    expect(await take(opened, 'activate', plans['untaken'])).toBe(303)
    // The browser does not send the portal's cookie to a checkout.
    const backToPortal = await pageOf(opened.path, opened.cookie)
    expect(backToPortal).not.toContain('Open your account')
    expect(backToPortal).toContain(`${portal}"`)
    await stack.database.in('sandbox')`
      update checkout_sessions set return_url = null where session_id = ${opened.sessionId}`
    const page = await pageOf(opened.path, opened.cookie)
    expect(page).not.toContain(accountForm)
    expect(page).toContain(`href="${portal}"`)
  })

  test('opens no portal before completion, or after the validity of a link', async () => {
    const unused = await open(await createCustomer())
    expect(await take(unused, 'account', undefined)).toBe(410)
    const opened = await complete()
    expect(await take({ ...opened, formToken: 'x' }, 'account', undefined)).toBe(403)
    stack.clock.set('2026-03-01T00:15:00Z')
    expect(await pageOf(opened.path, opened.cookie)).not.toContain(accountForm)
    expect(await take(opened, 'account', undefined)).toBe(410)
  })

  test('records the checkout and its customer in the audit log', async () => {
    const opened = await complete()
    expect(await take(opened, 'account', undefined)).toBe(303)
    const reference = opened.path.split('/').at(-1) ?? ''
    const sql = stack.database.in('sandbox')
    const [session] = await sql`
      select customer_ref, issued_by, status from customer_sessions
      where issued_by = ${`checkout:${reference}`}`
    expect(session).toMatchObject({ status: 'used' })
    const customerRef = session?.['customer_ref'] as string
    const entries = await sql`
      select actor from audit_log where kind = 'customer_sessions' and reference = ${customerRef}`
    expect(entries).toEqual([{ actor: `customer:${customerRef}` }])
  })
})

describe('a plan that is paid from credits', () => {
  async function takeWithCredits(credits: number): Promise<Opened> {
    const customerRef = await createCustomer()
    await call('POST', `/v1/sdk/customers/${customerRef}/credits`, { credits })
    const opened = await open(customerRef)
    expect(await take(opened, 'activate', plans['credits'])).toBe(303)
    return opened
  }

  test.each([
    [99, 'Add credits to start'],
    [100, 'You can use API right away.'],
  ])('with %s credits, if a request costs 100, shows %s', async (credits, text) => {
    const { path, cookie } = await takeWithCredits(credits)
    expect(await pageOf(path, cookie)).toContain(text)
  })

  test('is shown as active while the balance cannot be read', async () => {
    const { path, cookie } = await takeWithCredits(99)
    const reading = vi.spyOn(Wallets.prototype, 'read').mockRejectedValue(new Error('behind'))
    const page = await pageOf(path, cookie)
    reading.mockRestore()
    expect(page).toContain('credits is active')
    for (const text of ['right away', 'Add credits', 'Nothing was changed']) {
      expect(page).not.toContain(text)
    }
  })
})

test('shows on the last checkout page when a trial without a card pauses', async () => {
  const opened = await open(await createCustomer())
  expect(await take(opened, 'trial', plans['trial'])).toBe(303)
  const page = await pageOf(opened.path, opened.cookie)
  expect(page).toContain('$5.00 on Mar 8, 2026')
  expect(page).toContain('Without a saved card the plan pauses then.')
})

test('names the tax that is added to the charge after a trial', async () => {
  const merchant = { country: 'SE', vatNumber: 'SE556012579001' }
  await call('PATCH', '/v1/ui/merchant', merchant)
  const customerRef = await createCustomer()
  const requiredFields = {
    isBusiness: false,
    businessName: null,
    customerName: null,
    country: 'SE',
  }
  const details = { ...requiredFields, taxId: null, taxIdType: null }
  const now = new Date(stack.clock.now())
  await saveTaxDetails(stack.database.in('sandbox'), tenant.providerId, customerRef, details, now)
  const opened = await open(customerRef)
  const review = await pageOf(`${opened.path}?plan=${plans['trial']}`, opened.cookie)
  expect(review).toContain('$5.00 plus tax is due on Mar 8, 2026')
  expect(await take(opened, 'trial', plans['trial'])).toBe(303)
  expect(await pageOf(opened.path, opened.cookie)).toContain('$5.00 plus tax on Mar 8, 2026')
  await call('PATCH', '/v1/ui/merchant', { country: null, vatNumber: null })
})

test('responds 404 to a malformed payment reference', async () => {
  const { path, cookie, formToken } = await open(await createCustomer())
  const body = new URLSearchParams({ formToken, payment: 'pi_\0' })
  const answer = await stack.fetch(`${path}/account`, { method: 'POST', body, headers: { cookie } })
  expect(answer.status).toBe(404)
})

test('leads to a checkout that sells credits', async () => {
  const opened = await open(await createCustomer())
  expect(await take(opened, 'activate', plans['free'])).toBe(303)
  const answer = await answerTo(opened, 'credits', undefined)
  const link = new URL(answer.headers.get('location') ?? '', 'http://localhost')
  const next = await openLink(link.searchParams.get('id') ?? '')
  expect(await pageOf(next.path, next.cookie)).toContain('<h1>Buy credits</h1>')
})
