import type { Registry } from '../observability/metrics.ts'
import { createAdminServer, type AdminServer } from './admin-server.ts'
import type { HealthCheck } from './health.ts'
import { openOwned, type Closable, type Own } from './open-owned.ts'
import type { Service } from './service.ts'

/** What a composition root opens and starts with. */
export type Host = {
  /** Keeps a part that is open. Parts are closed last, in reverse order. */
  readonly own: Own
  /** Starts a service of which this one consists. They are stopped first, in reverse order. */
  readonly start: (service: Service) => Promise<void>
  /** Serves health and metrics until everything that was started has stopped. */
  readonly serveHealth: (metrics: Registry, readiness: readonly HealthCheck[]) => Promise<void>
}

/** A service as its process and its tests see it, with what is known of it while it runs. */
export type HostedService<Facts extends object = object> = Service &
  Readonly<Facts> & {
    /** Where health and metrics are served, once started. */
    readonly adminPort: number
  }

export type AdminAddress = { readonly adminHost: string; readonly adminPort: number }

type Running<Facts> = Closable & { readonly facts: Facts; readonly adminPort: number }

/**
 * Makes a service of a composition root. If `open` throws, what it has started is stopped and what it owns is closed, and the
 * reason is thrown. The service has the facts that `open` returns while it runs, otherwise those of `atRest`.
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
        // A start that fails may have started a part of it.
        start: (service) => {
          started.push(service)
          return service.start()
        },
        serveHealth: (metrics, readiness) => {
          // Each failure is treated as a restart would treat it, so none asks for one.
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
