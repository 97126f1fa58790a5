import { setTimeout as sleep } from 'node:timers/promises'
import type { TollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { createFormBrowser } from './form-browser.ts'

const priceMinor = 1_900
const timeoutMs = 30_000
const pollMs = 100

/** A new customer buys a plan on the hosted pages, with a card entered on the simulator's page. */
export async function payCheckout(client: TollgateClient): Promise<void> {
  const run = Date.now().toString(36)
  const { reference: productRef } = await client.createProduct({ name: `Smoke ${run}` })
  const { reference: planRef } = await client.createPlan(productRef, {
    name: 'Professional',
    type: 'recurring',
    billingCycle: 'monthly',
    price: priceMinor,
  })
  const email = `smoke-${run}@example.com`
  const { reference: customerRef } = await client.createCustomer({ email, name: 'Smoke' })
  const session = await client.send('POST', '/v1/sdk/checkout-sessions', {
    ...{ customerRef, productRef, planRef },
  })
  const { checkoutUrl } = session.body as { readonly checkoutUrl: string }

  const browser = createFormBrowser()
  const review = await browser.open(checkoutUrl)
  const payment = await browser.submit(review, 'plan')
  const card = await browser.submit(payment, 'client_secret')
  await browser.submit(card, 'number', { number: '4242424242424242' })
  await waitUntilPaid(client, customerRef)
}

async function waitUntilPaid(client: TollgateClient, customerRef: string): Promise<void> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const answer = await client.send('GET', `/v1/sdk/purchases/customer/${customerRef}`)
    const { purchases = [] } = answer.body as {
      readonly purchases?: readonly { readonly status: string; readonly amount: number }[]
    }
    const [purchase] = purchases
    if (purchase?.status === 'active' && purchase.amount === priceMinor) return
    if (Date.now() > deadline) {
      throw new Error(
        `The purchase was not active ${timeoutMs} ms after the payment: ${JSON.stringify(purchases)}`,
      )
    }
    await sleep(pollMs)
  }
}
