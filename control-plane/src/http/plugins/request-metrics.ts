import { Histogram, type Registry } from '@tollgate/platform/observability/metrics'
import type { ApiServer } from '../api-server.ts'

/** Times every answer, by the route as it is declared: what a client put into the path is no label. */
export function installRequestMetrics(app: ApiServer, registry: Registry): void {
  const seconds = new Histogram({
    name: 'tollgate_control_request_seconds',
    help: 'From a request of the management API to the end of its answer',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [registry],
  })
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
