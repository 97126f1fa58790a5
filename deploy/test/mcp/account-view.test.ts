import { accountViewContents } from '@tollgate/mcp-proxy/apps/account-view'
import { afterAll, expect, test } from 'vitest'
import { launchChromium } from '../pages/chromium.ts'
import { showView, type ShownView, type ViewOptions } from './view-host.ts'

/* The view of the proxy's own tools in the host of the official package. */

const html = accountViewContents[0]!['text'] as string
const url = 'https://hosted.test/customer/connect/con_1'

const monthly = { type: 'recurring', currency: 'USD', billingCycle: 'monthly' }
const result = {
  content: [{ type: 'text' as const, text: '{}' }],
  structuredContent: {
    kind: 'upgrade',
    url,
    product: 'Weather',
    current: { plan: 'Free', usage: { used: 3, remaining: 0, total: 3 } },
    plans: [
      { reference: 'pln_1', name: 'Free', price: 0, ...monthly, units: 3 },
      { reference: 'pln_2', name: 'Pro', price: 1900, ...monthly, units: 1000 },
      { reference: 'pln_3', name: 'Flexible', price: 0, currency: 'USD', type: 'usage-based' },
      { reference: 'pln_4', name: 'Pack', price: 500, currency: 'JPY', type: 'one-time' },
    ],
  },
}

const views: ShownView[] = []

const browser = await launchChromium()
afterAll(async () => {
  await Promise.all(views.map((view) => view.close()))
  await browser.close()
})

async function show(options: Partial<ViewOptions> = {}): Promise<ShownView> {
  const view = await showView(browser, { html, ...options })
  views.push(view)
  return view
}

const textOf = ({ frame }: ShownView) => frame.locator('main').innerText()

const backgroundOf = ({ frame }: ShownView) =>
  frame.evaluate<string>('getComputedStyle(document.body).backgroundColor')

test('shows the plans, and asks the client to open the page', async () => {
  const opened: string[] = []
  const view = await show({ openLink: (link) => (opened.push(link), {}) })
  await view.showResult(result)
  await view.frame.getByRole('button', { name: 'Choose a plan' }).click()
  await view.frame.getByText('The page is open in your browser').waitFor()
  expect(opened).toEqual([url])
  const shown = await textOf(view)
  for (const part of [
    'Plans of Weather',
    'Your plan: Free',
    'Calls left: 0 of 3',
    'Pay per use',
    '¥500',
  ])
    expect(shown).toContain(part)
  expect(shown).toMatch(/Pro\s+\$19\.00 per month\s+Calls: 1,000/)
  expect(shown).not.toContain(url)
  expect(view.requests).toEqual([])
})

test.each([
  ['does not say that it opens links', undefined],
  ['refuses to open the link', () => ({ isError: true })],
] as const)('shows the URL if the client %s', async (_name, openLink) => {
  const view = await show(openLink === undefined ? {} : { openLink })
  await view.showResult(result)
  if (openLink !== undefined) await view.frame.getByRole('button').click()
  await view.frame.getByText(url).waitFor()
  expect(await view.frame.getByRole('button').count()).toBe(openLink === undefined ? 0 : 1)
})

test.each([
  ['light', 'rgb(255, 255, 255)'],
  ['dark', 'rgb(27, 32, 39)'],
] as const)('is %s and readable if the client is', async (theme, background) => {
  for (const width of [390, 1280]) {
    const view = await show({ width, context: { theme }, openLink: () => ({}) })
    await view.showResult(result)
    await view.frame.getByRole('button').waitFor()
    expect(await backgroundOf(view)).toBe(background)
    expect(await view.findViolations()).toEqual([])
    const scrolled = await view.frame.evaluate<number>('document.documentElement.scrollWidth')
    expect(scrolled).toBeLessThanOrEqual(width)
    if (process.env['TOLLGATE_TEST_PICTURES'] === '1') {
      await view.page.screenshot({ path: `deploy/screenshots/account-view-${width}-${theme}.png` })
    }
  }
})

test("follows a change of the client's theme and language", async () => {
  const view = await show({ context: { theme: 'light', locale: 'en-US' }, openLink: () => ({}) })
  await view.showResult(result)
  view.bridge.setHostContext({ theme: 'dark', locale: 'de-DE' })
  await view.frame.getByText('Verbleibende Aufrufe: 0 von 3').waitFor()
  expect(await textOf(view)).toMatch(/19,00\s\$ pro Monat/)
  expect(await backgroundOf(view)).toBe('rgb(27, 32, 39)')
})

test.each([
  ['an error', { content: [], isError: true }],
  ['no address', { content: [] }],
  [
    'an address that is not a web page',
    { content: [], structuredContent: { ...result.structuredContent, url: 'javascript:alert(1)' } },
  ],
])('offers no page to open for %s', async (_name, given) => {
  const view = await show({ openLink: () => ({}) })
  await view.showResult(given)
  await view.frame.getByText('This is not available now').waitFor()
  expect(await view.frame.getByRole('button').count()).toBe(0)
})

test('shows all data as text', async () => {
  const view = await show({ openLink: () => ({}) })
  const name = '<img src="https://evil.test/x"><b>Pro</b>'
  const plans = [{ ...result.structuredContent.plans[1]!, name }]
  const structuredContent = { ...result.structuredContent, product: name, plans }
  await view.showResult({ ...result, structuredContent })
  await view.frame.getByRole('button').waitFor()
  expect(await textOf(view)).toContain(name)
  expect(view.requests).toEqual([])
})
