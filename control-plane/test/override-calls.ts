type Send = (path: string, body: unknown, method?: string) => Promise<Record<string, string>>

/** Returns a request for each route that changes overrides. Earlier requests create the product and the customer. */
export function overrideCalls(
  refs: Record<string, string>,
  send: Send,
): Record<string, (path: string) => Promise<unknown>> {
  return {
    'PUT /v1/ui/customers/:reference/products/:productRef/overrides': async (path) => {
      const charges = [{ meter: 'requests', cap: 5, model: 'per_unit', per: 'period' }]
      const capped = { name: 'Capped', type: 'recurring', billingCycle: 'monthly', charges }
      await send(`/v1/sdk/products/${refs['productRef']}/plans`, capped)
      await send(path, { charges: [{ charge: 'requests', cap: 9 }] }, 'PUT')
    },
    'DELETE /v1/ui/customers/:reference/products/:productRef/overrides': (path) =>
      send(path, undefined, 'DELETE'),
  }
}
