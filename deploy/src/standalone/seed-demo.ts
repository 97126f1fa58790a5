import type { TollgateClient } from '../client/tollgate-client.ts'

const demoProduct = {
  name: 'Weather MCP server',
  description: 'Forecasts as MCP tools, metered per call',
  productType: 'mcp',
}

/** A plan paid with credits, which run out. The example commands use it. */
const prepaidPlan = {
  name: 'Pay as you go',
  type: 'usage-based',
  billingModel: 'pre-paid',
  price: 0,
  creditsPerUnit: 10,
}

/** A free default plan with a cap, a plan paid in advance and a plan paid by usage. */
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

/** The customer of the example commands, and its initial credits, which pay 5 calls. */
export const storyCustomer = demoCustomers[0]
const storyCredits = 50

/**
 * Creates the demo product, plans and customers over the public API. Each step first checks what exists, so that the next start
 * completes an interrupted one. Returns the reference of the product.
 */
export async function seedDemo(client: TollgateClient): Promise<string> {
  const product =
    (await client.findProduct(demoProduct.name)) ?? (await client.createProduct(demoProduct))
  const present = new Set((await client.listPlans(product.reference)).map((plan) => plan.name))
  for (const plan of demoPlans) {
    if (!present.has(plan.name)) await client.createPlan(product.reference, plan)
  }
  // Creating a customer that already exists returns the existing one.
  for (const customer of demoCustomers) await client.createCustomer(customer)
  await startStory(client, product.reference)
  return product.reference
}

/**
 * Activates the plan and grants the credits. If the plan is already active, or the grant's idempotency key is known, nothing
 * changes.
 */
async function startStory(client: TollgateClient, productRef: string): Promise<void> {
  const { externalRef: customerRef } = storyCustomer
  const plans = await client.listPlans(productRef)
  const planRef = plans.find(({ name }) => name === prepaidPlan.name)?.reference
  await client.require('POST', '/v1/sdk/activate', { customerRef, productRef, planRef })
  const grant = { credits: storyCredits, reason: 'Credits to start with' }
  await client.require('POST', `/v1/sdk/customers/${customerRef}/credits`, grant, 'demo-credits')
}
