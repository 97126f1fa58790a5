import type { TollgateClient } from '../client/tollgate-client.ts'

const demoProduct = {
  name: 'Weather MCP server',
  description: 'Forecasts as MCP tools, metered per call',
  productType: 'mcp',
}

/** A free plan with a cap that everybody starts on, one that is paid in advance and one that is paid by use. */
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
  {
    name: 'Pay as you go',
    type: 'usage-based',
    billingModel: 'pre-paid',
    price: 0,
    creditsPerUnit: 10,
  },
]

export const demoCustomers = [
  { name: 'Ada', email: 'ada@demo.example', externalRef: 'user_ada' },
  { name: 'Grace', email: 'grace@demo.example', externalRef: 'user_grace' },
  { name: 'Linus', email: 'linus@demo.example', externalRef: 'user_linus' },
] as const

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
  return product.reference
}
