import { createMetrics } from '@tollgate/platform/observability/metrics'
import type { Service } from '@tollgate/platform/service/service'
import { hostService, type Host, type HostedService } from '@tollgate/platform/service/service-host'
import { environments, type Environment } from '@tollgate/schemas/environment'
import type { WebhookDispatcherConfig } from './config.ts'
import { listenForWork } from './deliver/listen-for-work.ts'
import {
  openDispatchedEnvironment,
  type DispatchedEnvironment,
} from './deliver/open-environment.ts'
import { createDispatchMetrics, registerWaiting } from './metrics.ts'
import { openParts, type Parts } from './open-parts.ts'
import { countWaiting } from './postgres/count-waiting.ts'

export type WebhookDispatcher = HostedService

/**
 * Creates the service from its parts. Parts in `overrides` are used and not closed. All other parts are opened at the start and
 * closed at the stop.
 */
export function createWebhookDispatcher(
  config: WebhookDispatcherConfig,
  overrides: Partial<Parts> = {},
): WebhookDispatcher {
  return hostService(config, {}, (host) => open(config, overrides, host))
}

async function open(
  config: WebhookDispatcherConfig,
  overrides: Partial<Parts>,
  host: Host,
): Promise<object> {
  const parts = await host.own(openParts(config, overrides))
  const { database, clock } = parts
  const registry = createMetrics('webhook-dispatcher')
  const metrics = createDispatchMetrics(registry)
  const each = {
    sandbox: openDispatchedEnvironment('sandbox', config, parts, metrics),
    live: openDispatchedEnvironment('live', config, parts, metrics),
  }
  registerWaiting(
    registry,
    (space) => countWaiting(database.in(space), new Date(clock.now())),
    (space) => each[space].inFlight,
  )
  await host.serveHealth(registry, [{ name: 'postgres', check: () => database.ping() }])
  await host.start(dispatching(database, each))
  return {}
}

/** Listens before the first look for work, so that no delivery is committed unnoticed in between. */
function dispatching(
  database: Parts['database'],
  each: Readonly<Record<Environment, DispatchedEnvironment>>,
): Service {
  let listener: Awaited<ReturnType<typeof listenForWork>> | undefined
  return {
    start: async () => {
      listener = await listenForWork(database, each)
      await Promise.all(environments.map((space) => each[space].start()))
    },
    stop: async () => {
      await listener?.stop()
      await Promise.all(environments.map((space) => each[space].stop()))
    },
  }
}
