import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Registry } from '../observability/metrics.ts'
import { runHealthChecks, type HealthCheck } from './health.ts'
import type { Service } from './service.ts'

/** What `/metrics` answers with, usually a registry. */
export type MetricsPage = Pick<Registry, 'contentType' | 'metrics'>

export type AdminServerOptions = {
  readonly host: string
  /** Port to listen on. 0 takes any free port. */
  readonly port: number
  readonly metrics: MetricsPage
  /** Checks that must pass before this process is sent work. */
  readonly readiness: readonly HealthCheck[]
  /** Checks that must pass for this process to keep running. A failure requests a restart. */
  readonly liveness: readonly HealthCheck[]
}

export type AdminServer = Service & { readonly port: number }

const checkTimeoutMs = 2_000

/**
 * Serves operators on a port of its own, apart from the public one: `GET /health/live`, `GET /health/ready` (200, or 503 with the
 * reasons as JSON) and `GET /metrics` (Prometheus text).
 */
export function createAdminServer(options: AdminServerOptions): AdminServer {
  const server = createServer((request, response) => {
    response.on('error', () => response.destroy())
    answer(request.url ?? '/', response, options).catch((error: unknown) => {
      sendJson(response, 500, { error: String(error) })
    })
  })
  return {
    get port() {
      return (server.address() as AddressInfo | null)?.port ?? options.port
    },
    start: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen(options.port, options.host, () => resolve())
      }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(
  url: string,
  response: ServerResponse,
  options: AdminServerOptions,
): Promise<void> {
  switch (url) {
    case '/health/live':
      return sendHealth(response, options.liveness)
    case '/health/ready':
      return sendHealth(response, options.readiness)
    case '/metrics':
      response.writeHead(200, { 'content-type': options.metrics.contentType })
      response.end(await options.metrics.metrics())
      return
    default:
      sendJson(response, 404, { error: 'Not Found' })
  }
}

async function sendHealth(response: ServerResponse, checks: readonly HealthCheck[]): Promise<void> {
  const report = await runHealthChecks(checks, checkTimeoutMs)
  sendJson(response, report.status === 'failing' ? 503 : 200, report)
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
