import { createMetrics } from '@tollgate/platform/observability/metrics'
import { createAdminServer } from '@tollgate/platform/service/admin-server'
import type { Service } from '@tollgate/platform/service/service'
import { environments, type Environment } from '@tollgate/schemas/environment'
import type { WebhookDispatcherConfig } from './config.ts'
import { listenForWork } from './deliver/listen-for-work.ts'
import { openEnvironment } from './deliver/open-environment.ts'
import { createDispatchMetrics, registerWaiting } from './metrics.ts'
import { openParts, type OpenedParts, type Parts } from './open-parts.ts'
import { countWaiting } from './postgres/count-waiting.ts'

export type WebhookDispatcher = Service & {
  /** Where health and metrics are served, once started. */
  readonly adminPort: number
}

/**
 * The composition root. What is passed in `overrides` is used and not closed; the rest is opened at the start and
 * closed at the stop.
 */
export function createWebhookDispatcher(
  config: WebhookDispatcherConfig,
  overrides: Partial<Parts> = {},
): WebhookDispatcher {
  let running: Running | undefined
  return {
    get adminPort() {
      return running?.adminPort() ?? config.adminPort
    },
    start: async () => {
      const parts = await openParts(config, overrides)
      try {
        running = await run(config, parts)
      } catch (error) {
        await parts.close()
        throw error
      }
    },
    stop: async () => {
      const stopping = running
      running = undefined
      await stopping?.stop()
    },
  }
}

type Running = { readonly adminPort: () => number; readonly stop: () => Promise<void> }

async function run(config: WebhookDispatcherConfig, parts: OpenedParts): Promise<Running> {
  const { database, clock } = parts
  const registry = createMetrics('webhook-dispatcher')
  const metrics = createDispatchMetrics(registry)
  const each = {
    sandbox: openEnvironment('sandbox', config, parts, metrics),
    live: openEnvironment('live', config, parts, metrics),
  }
  registerWaiting(
    registry,
    (space) => countWaiting(database.in(space), new Date(clock.now())),
    (space) => each[space].underWay,
  )
  const ear = await listenForWork(database, each)
  const admin = createAdminServer({
    host: config.adminHost,
    port: config.adminPort,
    metrics: registry,
    readiness: [{ name: 'postgres', check: () => database.ping() }],
    // What fails is taken up again as it would be after a restart.
    liveness: [],
  })
  await admin.start()
  const overEach = (act: (space: Environment) => Promise<void>): Promise<unknown> =>
    Promise.all(environments.map(act))
  await overEach((space) => each[space].start())
  return {
    adminPort: () => admin.port,
    stop: async () => {
      await ear.stop()
      await overEach((space) => each[space].stop())
      await admin.stop()
      await parts.close()
    },
  }
}
