import type { TollgateClient } from '../client/tollgate-client.ts'

const demoProduct = {
  name: 'Weather MCP server',
  description: 'Forecasts as MCP tools, metered per call',
  productType: 'mcp',
}

/** Paid with credits, which run out: the plan of the first commands. */
const prepaidPlan = {
  name: 'Pay as you go',
  type: 'usage-based',
  billingModel: 'pre-paid',
  price: 0,
  creditsPerUnit: 10,
}

/** A free plan with a cap that everybody else starts on, one that is paid in advance and one that is paid by use. */
const demoPlans = [
  {
    name: 'Free',
    type: 'recurring',
    billingCycle: 'monthly',
    price: 0,
    limit: 1_000,
    default: true,
  },
  { name: 'Pro', type: 'recurring', billingCycle: 'monthly', price: 2_900, limit: 100_000 },
  prepaidPlan,
]

export const demoCustomers = [
  { name: 'Ada', email: 'ada@demo.example', externalRef: 'user_ada' },
  { name: 'Grace', email: 'grace@demo.example', externalRef: 'user_grace' },
  { name: 'Linus', email: 'linus@demo.example', externalRef: 'user_linus' },
] as const

/** The customer of the first commands, and what the customer starts with: 5 calls. */
export const storyCustomer = demoCustomers[0]
const storyCredits = 50

/**
 * Fills a new provider over the public API. Each step looks first, so that a start that was cut short in the middle
 * is completed by the next one. Returns the product's reference.
 */
export async function seedDemo(client: TollgateClient): Promise<string> {
  const product =
    (await client.findProduct(demoProduct.name)) ?? (await client.createProduct(demoProduct))
  const present = new Set((await client.listPlans(product.reference)).map((plan) => plan.name))
  for (const plan of demoPlans) {
    if (!present.has(plan.name)) await client.createPlan(product.reference, plan)
  }
  // A customer that is already there is linked and answered, not refused.
  for (const customer of demoCustomers) await client.createCustomer(customer)
  await startStory(client, product.reference)
  return product.reference
}

/** A plan that is active and a grant whose key is known stay as they are. */
async function startStory(client: TollgateClient, productRef: string): Promise<void> {
  const { externalRef: customerRef } = storyCustomer
  const plans = await client.listPlans(productRef)
  const planRef = plans.find(({ name }) => name === prepaidPlan.name)?.reference
  await client.require('POST', '/v1/sdk/activate', { customerRef, productRef, planRef })
  const grant = { credits: storyCredits, reason: 'Credits to start with' }
  await client.require('POST', `/v1/sdk/customers/${customerRef}/credits`, grant, 'demo-credits')
}
