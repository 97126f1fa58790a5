import type { RequestSeconds } from '../../metrics.ts'
import type { ApiServer } from '../../access/api-server.ts'

/**
 * Measures the duration of every response. The label is the route as declared, never the path that the client sent, so that clients
 * cannot create labels.
 */
export function installRequestMetrics(app: ApiServer, seconds: RequestSeconds): void {
  app.addHook('onResponse', (request, reply, done) => {
    const labels = {
      method: request.method,
      route: request.routeOptions.url ?? 'unknown',
      status: String(reply.statusCode),
    }
    seconds.observe(labels, reply.elapsedTime / 1_000)
    done()
  })
}
