import type { ApiServer } from '../access/api-server.ts'

/** Operations that people work with as programs do. */
const shared = [
  /^POST \/v1\/sdk\/customers$/,
  /^\w+ \/v1\/sdk\/customers\/:reference(\/(balance|credits))?$/,
  /^\w+ \/v1\/sdk\/products(\/.*)?$/,
  /^\w+ \/v1\/sdk\/purchases\/:purchaseRef(\/(cancel|reactivate))?$/,
  /^\w+ \/v1\/sdk\/(auto-recharge|payment-method|merchant|platform-config)$/,
  /^\w+ \/v1\/webhook_endpoints(\/.*)?$/,
]

/**
 * Serves some of the operations under `/v1/ui` as well, where access tokens are taken: those that are
 * registered on this instance afterwards. They are described once.
 */
export function offerToConsole(app: ApiServer): void {
  app.addHook('onRoute', (route) => {
    // The method HEAD is made of GET for each path.
    const isShared = shared.some((each) => each.test(`${String(route.method)} ${route.url}`))
    if (!isShared || route.method === 'HEAD') return
    const url = route.url.replace(/^\/v1\/(sdk\/)?/, '/v1/ui/')
    app.route({ ...route, url, schema: { ...route.schema, hide: true } })
  })
}
