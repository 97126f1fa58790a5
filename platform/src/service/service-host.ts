import { createAdminServer, type AdminServer, type MetricsPage } from './admin-server.ts'
import type { HealthCheck } from './health.ts'
import { openOwned, type Closable, type Own } from './open-owned.ts'
import type { Service } from './service.ts'

/** Functions with which a composition root opens its parts and starts its services. */
export type Host = {
  /** Registers an open part. Parts are closed after all services have stopped, in reverse order. */
  readonly own: Own
  /** Starts an inner service. Inner services stop first, in reverse order. */
  readonly start: (service: Service) => Promise<void>
  /** Serves health and metrics until all inner services have stopped. */
  readonly serveHealth: (metrics: MetricsPage, readiness: readonly HealthCheck[]) => Promise<void>
}

/** A service with its facts, such as its port. */
export type HostedService<Facts extends object = object> = Service &
  Readonly<Facts> & {
    /** Port of health and metrics. Valid after the start. */
    readonly adminPort: number
  }

export type AdminAddress = { readonly adminHost: string; readonly adminPort: number }

type Running<Facts> = Closable & { readonly facts: Facts; readonly adminPort: number }

/**
 * Creates a service from a composition root. If `open` throws, its inner services are stopped and its parts are closed, and the
 * reason is thrown. While the service runs it has the facts that `open` returned, otherwise those of `atRest`.
 */
export function hostService<Facts extends object>(
  address: AdminAddress,
  atRest: Facts,
  open: (host: Host) => Promise<Facts>,
): HostedService<Facts> {
  let running: Running<Facts> | undefined
  const service = {
    get adminPort() {
      return running?.adminPort ?? address.adminPort
    },
    start: async () => {
      running = await run(address, open)
    },
    stop: async () => {
      const stopping = running
      running = undefined
      await stopping?.close()
    },
  }
  for (const name of Object.keys(atRest) as (keyof Facts)[]) {
    const get = (): unknown => (running?.facts ?? atRest)[name]
    Object.defineProperty(service, name, { enumerable: true, get })
  }
  return service as HostedService<Facts>
}

function run<Facts>(
  { adminHost: host, adminPort: port }: AdminAddress,
  open: (host: Host) => Promise<Facts>,
): Promise<Running<Facts>> {
  return openOwned(async (own) => {
    const started: Service[] = []
    let admin: AdminServer | undefined
    const stopAll = async (): Promise<void> => {
      for (let last = started.pop(); last !== undefined; last = started.pop()) await last.stop()
      await admin?.stop()
    }
    try {
      const facts = await open({
        own,
        // A service whose start fails may have started in part, so it is stopped as well.
        start: (service) => {
          started.push(service)
          return service.start()
        },
        serveHealth: (metrics, readiness) => {
          // No failure requests a restart: services recover in the same way as a restart would.
          admin = createAdminServer({ host, port, metrics, readiness, liveness: [] })
          return admin.start()
        },
      })
      await own({ close: stopAll })
      return { facts, adminPort: admin?.port ?? port }
    } catch (error) {
      await stopAll()
      throw error
    }
  })
}
