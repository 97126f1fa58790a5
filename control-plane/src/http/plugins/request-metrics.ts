import type { RequestSeconds } from '../../metrics.ts'
import type { ApiServer } from '../../access/api-server.ts'

/** Times every answer, by the route as it is declared: what a client put into the path is no label. */
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
