import { addOnCalls } from './add-on-calls.ts'
import type { McpStack } from './mcp-stack.ts'

type Send = (path: string, body: unknown, method?: string) => Promise<Record<string, string>>

const migrations = '/v1/sdk/products/:productRef/plans/:planRef/migrations'

/** Returns a request for each route that changes purchases, and for migrations of plans, which nothing processes here. */
export function purchaseChangeCalls(
  refs: Record<string, string>,
  send: Send,
  stackOf: () => McpStack,
): Record<string, (path: string) => Promise<unknown>> {
  return {
    'PUT /v1/sdk/purchases/:purchaseRef/scheduled-change': async (path) => {
      const other = { name: 'Other', type: 'recurring', price: 0, billingCycle: 'monthly' }
      const plan = await send(`/v1/sdk/products/${refs['productRef']}/plans`, other)
      await send(path, { planRef: plan['reference'] }, 'PUT')
    },
    'DELETE /v1/sdk/purchases/:purchaseRef/scheduled-change': (path) =>
      send(path, undefined, 'DELETE'),
    [`POST ${migrations}`]: async (path) => {
      refs['migrationRef'] = (await send(path, { when: 'renewal' }))['reference']!
    },
    [`POST ${migrations}/:migrationRef/pause`]: (path) => send(path, {}),
    [`POST ${migrations}/:migrationRef/resume`]: (path) => send(path, {}),
    [`POST ${migrations}/:migrationRef/cancel`]: (path) => send(path, {}),
    ...addOnCalls(refs, send, stackOf),
    'POST /v1/sdk/purchases/:purchaseRef/cancel': (path) => send(path, {}),
    'POST /v1/sdk/purchases/:purchaseRef/reactivate': (path) => send(path, {}),
  }
}
