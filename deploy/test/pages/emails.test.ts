import { emailKinds, type EmailPreviewBody } from '@tollgate/schemas/http/emails'
import { pageLanguages } from '@tollgate/schemas/http/page-locale'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { startTestStack, type TestStack } from '../../../control-plane/test/test-stack.ts'
import { launchChromium } from './chromium.ts'
import { createVisitor, keepsPictures, type Visitor } from './visitor.ts'

/* Emails to customers and the page of their unsubscribe link, in a real browser. */

let stack: TestStack
let browser: Browser
let visitor: Visitor
let key: string

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([
    startTestStack({
      settings: { TOLLGATE_CUSTOMER_AUTH_INBOX: 'on', TOLLGATE_EMAIL_POLL_MS: '50' },
    }),
    launchChromium(),
  ])
  key = (await stack.createTenant()).liveKey
  const merchant = {
    ...{ legalName: 'Acme Search Ltd', supportEmail: 'help@acme.example' },
    ...{ accentColor: '#0f766e', address: '1 Canal Street\nLondon N1 9XY' },
  }
  await stack.call(key, 'PATCH', '/v1/ui/merchant', merchant)
})
afterAll(async () => {
  await browser.close()
  await stack.stop()
})

/** Opens emails as a mail program shows them. */
async function openVisitor(act: (visitor: Visitor) => Promise<void>): Promise<void> {
  visitor = await createVisitor(browser)
  try {
    await act(visitor)
  } finally {
    await visitor.close()
  }
}

async function show(kind: string, locale: string): Promise<void> {
  const path = `/v1/ui/email-previews/${kind}?locale=${locale}`
  const { body } = await stack.call<EmailPreviewBody>(key, 'GET', path)
  await visitor.page.setContent(body.html)
}

/** Has each email and each language once, and all emails in all languages if screenshots are requested. */
const shown = emailKinds.flatMap((kind) =>
  pageLanguages
    .filter((language) => keepsPictures || language === 'en' || kind === 'payment_failed')
    .map((language) => ({ kind, language })),
)

test.each(shown)(
  '$kind in $language is readable on a phone and a desktop, in light and dark mode',
  ({ kind, language }) =>
    openVisitor(async () => {
      await show(kind, language)
      await visitor.inspect(`email-${kind}-${language}`)
    }),
)

test('an email with a light accent colour and very long names keeps its width', () =>
  openVisitor(async () => {
    const long = 'W'.repeat(200)
    await stack.call(key, 'PATCH', '/v1/ui/merchant', { accentColor: '#fde047', name: long })
    await show('renewal_upcoming', 'de')
    await visitor.inspect('email-with-a-long-name')
    await stack.call(key, 'PATCH', '/v1/ui/merchant', { accentColor: '#0f766e', name: null })
  }))

test('the inbox shows an email, and its unsubscribe link works without scripts', async () => {
  await stack.call(key, 'PATCH', '/v1/ui/email-settings', { kinds: ['credits_expiring'] })
  const customer = { email: 'ada@example.com', name: 'Ada Lovelace' }
  const created = await stack.call<{ reference: string }>(
    key,
    'POST',
    '/v1/sdk/customers',
    customer,
  )
  const { reference } = created.body
  const soon = new Date(Date.now() + 20 * 86_400_000).toISOString()
  const grant = { credits: 2_500, expiresAt: soon }
  await stack.call(key, 'POST', `/v1/sdk/customers/${reference}/credits`, grant)
  // 14 days later, 6 days before the credits expire.
  stack.clock.set(new Date(Date.now() + 14 * 86_400_000).toISOString())
  await openVisitor(async ({ page }) => {
    const message = page.getByRole('heading', { name: /2,500 credits expire on/ })
    await expect
      .poll(
        async () => {
          await page.goto(`${stack.baseUrl}/inbox`)
          return message.count()
        },
        { timeout: 20_000 },
      )
      .toBe(1)
    await visitor.inspect('inbox')
    const address = await page.getByRole('link', { name: 'Open as HTML' }).getAttribute('href')
    await page.goto(new URL(address!, stack.baseUrl).href)
    const link = page.getByRole('link', { name: 'Unsubscribe from such notices' })
    const { pathname } = new URL((await link.getAttribute('href'))!)
    await page.goto(stack.baseUrl + pathname)
    await visitor.inspect('unsubscribe')
    await page.getByRole('button', { name: 'Unsubscribe' }).click()
    await page.getByRole('heading', { name: 'You are unsubscribed' }).waitFor()
    await visitor.inspect('unsubscribed')
  })
})
