import type { TollgateClient } from '../../src/client/tollgate-client.ts'

/** Objects that the tests find on the pages of the console. */
export type ConsoleShop = { readonly customerRef: string; readonly invoiceNumber: string }

/** Sells a metered plan to a customer, with usage, credits and an invoice. */
export async function openShop(client: TollgateClient): Promise<ConsoleShop> {
  const send = async <Body>(method: string, path: string, body?: unknown): Promise<Body> =>
    (await client.require(method, path, body)) as Body
  for (const name of ['Grace Hopper', 'Katherine Johnson']) {
    const email = `${name.split(' ')[0]!.toLowerCase()}@example.com`
    await client.createCustomer({ email, name })
  }
  const { reference: customerRef } = await client.createCustomer({
    ...{ email: 'ada@example.com', name: 'Ada Lovelace', externalRef: 'user_1815' },
  })
  await send('POST', '/v1/ui/meters', { name: 'tokens', aggregation: 'sum' })
  const { reference: productRef } = await client.createProduct({ name: 'Weather API' })
  const { reference: planRef } = await client.createPlan(productRef, {
    ...{ name: 'Metered', type: 'usage-based', billingModel: 'post-paid', billingCycle: 'monthly' },
    charges: [{ meter: 'tokens', model: 'per_unit', price: '10', cap: 1_000 }],
  })
  await send('POST', '/v1/sdk/activate', { customerRef, productRef, planRef })
  for (const value of [120, 55, 80]) {
    const event = { customerRef, productRef, meterName: 'tokens', value }
    await send('POST', '/v1/sdk/meter-events', event)
  }
  const credits = { credits: 5_000, reason: 'Welcome' }
  await send('POST', `/v1/sdk/customers/${customerRef}/credits`, credits)
  const { number } = await send<{ number: string }>('POST', '/v1/ui/invoices', {
    ...{ customerRef, currency: 'USD', reason: 'Agreed by contract' },
    lines: [
      { description: 'Setup of the connection', unitAmount: 25_000, quantity: 1 },
      { description: 'Hours of support', unitAmount: 9_000, quantity: 2.5 },
    ],
  })
  return { customerRef, invoiceNumber: number }
}
