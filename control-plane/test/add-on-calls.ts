import type { AddOnBody } from '@tollgate/schemas/http/add-ons'
import type { PlanBody } from '@tollgate/schemas/http/plans'
import type { McpStack } from './mcp-stack.ts'
import type { TestStack } from './test-stack.ts'

type Send = (path: string, body: unknown, method?: string) => Promise<Record<string, string>>

const ofPurchase = '/v1/sdk/purchases/:purchaseRef/add-ons/:addOnRef'

/** Returns a request for each route that changes add-ons. */
export function addOnCalls(
  refs: Record<string, string>,
  send: Send,
  stackOf: () => McpStack,
): Record<string, (path: string) => Promise<unknown>> {
  const create = (path: string) => {
    return send(path, { name: 'Support', price: 500, planRefs: [refs['pricedPlanRef']] })
  }
  const catalog = '/v1/sdk/products/:productRef/add-ons'
  return {
    [`POST ${catalog}`]: async (path) => {
      const plan = { name: 'Priced', type: 'recurring', price: 900, billingCycle: 'monthly' }
      const plans = path.replace(/add-ons$/, 'plans')
      refs['pricedPlanRef'] = (await send(plans, plan))['reference']!
      refs['addOnRef'] = (await create(path))['reference']!
    },
    [`PATCH ${catalog}/:addOnRef`]: (path) => send(path, { price: 600 }, 'PATCH'),
    [`DELETE ${catalog}/:addOnRef`]: async (path) => {
      const other = await create(path.replace(/\/[^/]+$/, ''))
      await send(path.replace(/[^/]+$/, other['reference']!), undefined, 'DELETE')
    },
    [`PUT ${ofPurchase}`]: async (path) => {
      // The customer has a free plan, and buying the priced plan would need a payment. So the test gives the purchase its price.
      const { database } = stackOf().stack
      const priced = { reference: refs['pricedPlanRef'], priceMinor: 900 }
      const sql = database.in('sandbox')
      await sql`
        update purchases set plan_snapshot = plan_snapshot || ${sql.json(priced)}
        where reference = ${refs['purchaseRef']!}`
      await send(path, { quantity: 1, when: 'renewal' }, 'PUT')
    },
    [`DELETE ${ofPurchase}`]: (path) => send(path, undefined, 'DELETE'),
  }
}

/** Creates an add-on of a new plan of the product. Returns its reference. */
export async function createAddOn(
  { call }: Pick<TestStack, 'call'>,
  key: string,
  productRef: string,
): Promise<string> {
  const path = `/v1/sdk/products/${productRef}`
  const priced = { name: 'Priced', price: 1_000, billingCycle: 'monthly' }
  const plan = await call<PlanBody>(key, 'POST', `${path}/plans`, priced)
  const addOn = { name: 'Support', price: 500, planRefs: [plan.body.reference] }
  return (await call<AddOnBody>(key, 'POST', `${path}/add-ons`, addOn)).body.reference
}
