import type { Clock } from '@tollgate/platform/clock/clock'
import { readSettings } from '@tollgate/platform/config/settings'
import { openPaymentProcessors } from '@tollgate/platform/payments/open-payment-processors'
import { stripeSettings } from '@tollgate/platform/payments/stripe/stripe-settings'
import { freePort } from '@tollgate/platform/testing/free-ports'
import { expect, vi } from 'vitest'
import type { Browser, Page } from 'playwright-core'
import type { TollgateClient } from '../../src/client/tollgate-client.ts'
import { startSimulator, type Simulator } from '@tollgate/stripe-simulator/simulator'
import { startStack, type Stack } from '../stack.ts'
import { launchChromium } from './chromium.ts'

type Body = Record<string, unknown>

/** All services of one provider, the simulator of Stripe, and a browser. */
export type PayingStack = {
  readonly simulator: Simulator
  readonly stack: Stack
  readonly browser: Browser
  readonly client: TollgateClient
  /** Sends a request and checks that it succeeds. */
  readonly send: (method: string, path: string, body?: unknown) => Promise<Body>
  readonly checkoutLink: (of: Body) => Promise<string>
  readonly portalLink: (customerRef: string) => Promise<string>
  readonly purchasesOf: (customerRef: string) => Promise<Body[]>
  /** Reads an object from the simulator's API. */
  readonly stripe: <Answer>(path: string) => Promise<Answer>
  /** Triggers an action of the simulator by one of its own paths. */
  readonly simulate: (path: string, body: object) => Promise<void>
  readonly stop: () => Promise<void>
}

type PayingOptions = {
  readonly settings?: Readonly<Record<string, string>>
  readonly clock?: Clock
  /**
   * Whether the pages treat the simulator as the real Stripe. The test must then provide Stripe's script and URL in the browser.
   */
  readonly isLikeStripe?: boolean
  /** Silent if a test provokes errors of the services. */
  readonly logLevel?: 'silent'
  /** Whether the billing runner runs, which renews purchases. */
  readonly hasBillingRunner?: boolean
}

const stripeUrl = 'https://api.stripe.com'

export async function startPayingStack({
  settings = {},
  isLikeStripe = false,
  ...options
}: PayingOptions = {}): Promise<PayingStack> {
  const simulator = await startSimulator()
  // The bank's page redirects to the public URL, so the port must be known before the start.
  const port = await freePort()
  const own = {
    TOLLGATE_PORT: String(port),
    TOLLGATE_MCP_PORT: '0',
    TOLLGATE_HOSTED_URL: `http://127.0.0.1:${port}`,
    TOLLGATE_STRIPE_SANDBOX_URL: simulator.url,
    TOLLGATE_STRIPE_SANDBOX_SECRET_KEY: 'sk_test_pages',
    TOLLGATE_STRIPE_SANDBOX_PUBLISHABLE_KEY: 'pk_test_pages',
    ...settings,
  }
  const processors = await openPaymentProcessors(readSettings(stripeSettings, own))
  const request = isLikeStripe
    ? { ...options, processors, settings: { ...own, TOLLGATE_STRIPE_SANDBOX_URL: stripeUrl } }
    : { ...options, settings: own }
  const [stack, browser] = await Promise.all([startStack(request), launchChromium()])
  const client = (await stack.createProvider()).sandbox
  const send = async (method: string, path: string, body?: unknown): Promise<Body> => {
    const answer = await client.send(method, path, body)
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
    return answer.body as Body
  }
  return {
    simulator,
    stack,
    browser,
    client,
    send,
    checkoutLink: async (of) =>
      (await send('POST', '/v1/sdk/checkout-sessions', of))['checkoutUrl'] as string,
    portalLink: async (customerRef) => {
      const path = '/v1/sdk/customers/customer-sessions'
      return (await send('POST', path, { customerRef }))['customerUrl'] as string
    },
    purchasesOf: async (customerRef) => {
      const { purchases } = await send('GET', `/v1/sdk/purchases/customer/${customerRef}`)
      return purchases as Body[]
    },
    stripe: async <Answer>(path: string) => {
      const headers = { authorization: `Bearer ${own.TOLLGATE_STRIPE_SANDBOX_SECRET_KEY}` }
      const answer = await fetch(`${simulator.url}/v1/${path}`, { headers })
      return (await answer.json()) as Answer
    },
    simulate: async (path, body) => {
      const headers = { 'content-type': 'application/json' }
      const request = { method: 'POST', headers, body: JSON.stringify(body) }
      const answer = await fetch(`${simulator.url}/_simulator/${path}`, request)
      expect(answer.status, await answer.text()).toBe(200)
    },
    stop: async () => {
      await browser.close()
      await stack.stop()
      await processors.close()
      await simulator.stop()
    },
  }
}

/** Returns the status of a customer's only purchase. */
export async function statusOf(paying: PayingStack, customerRef: string): Promise<unknown> {
  return (await paying.purchasesOf(customerRef))[0]?.['status']
}

/** Waits until the billing runner has moved the purchase to the status. */
export async function waitForStatus(
  paying: PayingStack,
  customerRef: string,
  status: string,
): Promise<void> {
  const isThere = async () => expect(await statusOf(paying, customerRef)).toBe(status)
  await vi.waitFor(isThere, { timeout: 60_000, interval: 200 })
}

/** Opens the simulator's card form from the current page and submits a card. */
export async function enterCard(page: Page, number: string): Promise<void> {
  await page.locator('form[action*="/_simulator/card/"] button').click()
  await page.getByLabel('Card number').fill(number)
  await page.getByRole('button', { name: /Pay|Save/ }).click()
}
