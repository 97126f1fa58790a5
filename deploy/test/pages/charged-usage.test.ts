import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import type { TollgateClient } from '../../src/client/tollgate-client.ts'
import { startStack, type Stack } from '../stack.ts'
import { launchChromium } from './chromium.ts'
import { createVisitor } from './visitor.ts'

/* The portal of a customer whose plan has charges, in a real browser with all services. */

let stack: Stack
let browser: Browser
let client: TollgateClient

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([startStack(), launchChromium()])
  client = (await stack.createProvider()).sandbox
  for (const name of ['tokens', 'images', 'calls']) {
    await send('POST', '/v1/ui/meters', { name, aggregation: 'sum' })
  }
})
afterAll(async () => {
  await browser.close()
  await stack.stop()
})

async function send(method: string, path: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await client.send(method, path, body)
  expect([path, answer.body, answer.status < 300]).toEqual([path, answer.body, true])
  return answer.body as Record<string, unknown>
}

test('shows units, included units, caps, cost and resets of each charge and limit', async () => {
  const productRef = (await client.createProduct({ name: 'Studio' })).reference
  const plan = await client.createPlan(productRef, {
    ...{ name: 'Pro', type: 'usage-based', billingModel: 'post-paid', billingCycle: 'monthly' },
    charges: [
      {
        meter: 'tokens',
        displayName: 'Tokens',
        price: '0.0004',
        included: 100_000,
        cap: 9_000_000,
      },
      { meter: 'images', displayName: 'Images', price: '4' },
      { meter: 'calls', displayName: 'Calls', cap: 3 },
    ],
    usageLimits: [{ key: 'daily', meter: 'tokens', cap: 2_000_000, per: 'day' }],
  })
  const email = `${randomUUID()}@example.com`
  const { reference: customerRef } = await client.createCustomer({ email, name: 'Ada Lovelace' })
  const named = { customerRef, productRef }
  await send('POST', '/v1/sdk/activate', { ...named, planRef: plan.reference })
  const used = { tokens: 1_350_000, images: 12, calls: 3 }
  for (const [meterName, value] of Object.entries(used)) {
    await send('POST', '/v1/sdk/meter-events', { ...named, meterName, value })
  }
  const session = await send('POST', '/v1/sdk/customers/customer-sessions', { customerRef })
  const { pathname, search } = new URL(session['customerUrl'] as string)
  const visitor = await createVisitor(browser)
  const { page } = visitor
  await page.goto(stack.baseUrl + pathname + search)
  const card = page.getByRole('article', { name: 'Studio' })
  const resets = String.raw`resets \w+ \d+, \d{4}, \d+:\d+ [AP]M UTC`
  const shown = async () => (await card.innerText()).replaceAll(/\s+/g, ' ')
  const tokens = String.raw`1,350,000 of 9,000,000 used · 100,000 included · \$5\.00 so far, without tax`
  await expect.poll(shown, { timeout: 30_000 }).toMatch(new RegExp(`Tokens ${tokens} · ${resets}`))
  const text = await shown()
  const images = String.raw`Images 12 used · \$0\.48 so far, without tax · ${resets}`
  expect(text).toMatch(new RegExp(images))
  expect(text).toMatch(
    new RegExp(`Calls 3 of 3 used · ${resets} The limit of this period is reached`),
  )
  // The buckets of windows follow the clock of the hot state, so this test has no clock of its own.
  expect(text).toMatch(new RegExp(`Tokens 1,350,000 of 2,000,000 used · per day · ${resets}`))
  await visitor.inspect('portal-charges')
  await visitor.close()
})
