import type { ApiServer } from '../access/api-server.ts'

/** Operations that both console users and programs use. */
const sharedOperations = [
  /^POST \/v1\/sdk\/customers(\/customer-sessions)?$/,
  /^\w+ \/v1\/sdk\/customers\/:reference(\/(balance|credits))?$/,
  /^\w+ \/v1\/sdk\/products(\/.*)?$/,
  /^\w+ \/v1\/sdk\/purchases\/:purchaseRef(\/(cancel|reactivate|scheduled-change|add-ons\/:addOnRef|\w+-preview))?$/,
  /^\w+ \/v1\/sdk\/(auto-recharge|payment-method|merchant|platform-config)$/,
  /^\w+ \/v1\/webhook_endpoints(\/.*)?$/,
  /^GET \/v1\/sdk\/webhooks\/event-types$/,
]

/**
 * Also serves the shared operations that are registered on this instance afterwards under `/v1/ui`, where access tokens are
 * accepted. The API description contains each operation once.
 */
export function registerConsoleAliases(app: ApiServer): void {
  app.addHook('onRoute', (route) => {
    // Fastify registers HEAD itself for each GET route.
    const isShared = sharedOperations.some((each) =>
      each.test(`${String(route.method)} ${route.url}`),
    )
    if (!isShared || route.method === 'HEAD') return
    const url = route.url.replace(/^\/v1\/(sdk\/)?/, '/v1/ui/')
    app.route({ ...route, url, schema: { ...route.schema, hide: true } })
  })
}
