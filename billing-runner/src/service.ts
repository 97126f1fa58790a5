import { countUnsettledEvents } from '@tollgate/domain/payments/inbox-repository'
import { logSetupHealth } from '@tollgate/platform/event-log/log-health'
import { createMetrics } from '@tollgate/platform/observability/metrics'
import { createAdminServer } from '@tollgate/platform/service/admin-server'
import type { Service } from '@tollgate/platform/service/service'
import type { BillingRunnerConfig } from './config.ts'
import { createJobs } from './jobs/job-catalogue.ts'
import { createReconciliation } from './jobs/reconcile.ts'
import { createScheduling } from './jobs/run-schedule.ts'
import { createJobMetrics, registerOverdueEvents } from './metrics.ts'
import { openParts, publisherOf, type OpenedParts, type Parts } from './open-parts.ts'

export type BillingRunner = Service & {
  /** Where health and metrics are served, once started. */
  readonly adminPort: number
}

/**
 * The composition root. What is passed in `overrides` is used and not closed; the rest is opened at the start and
 * closed at the stop.
 */
export function createBillingRunner(
  config: BillingRunnerConfig,
  overrides: Partial<Parts> = {},
): BillingRunner {
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

/** The longest pause between two tries to follow an event: what is older was tried again and again. */
const eventsOverdueMs = 3_600_000

type Running = { readonly adminPort: () => number; readonly stop: () => Promise<void> }

async function run(config: BillingRunnerConfig, parts: OpenedParts): Promise<Running> {
  const registry = createMetrics('billing-runner')
  const jobMetrics = createJobMetrics(registry)
  registerOverdueEvents(registry, (environment) =>
    countUnsettledEvents(
      parts.database.in(environment),
      new Date(parts.clock.now() - eventsOverdueMs),
    ),
  )
  const scheduling = createScheduling(
    {
      publisher: publisherOf(parts),
      logger: parts.logger,
      limits: config,
      metrics: jobMetrics,
      lookIntervalMs: config.lookIntervalMs,
      stuckAfterMs: config.stuckAfterMs,
    },
    [...createJobs(config, parts), createReconciliation(config, parts, jobMetrics)],
  )
  const admin = createAdminServer({
    host: config.adminHost,
    port: config.adminPort,
    metrics: registry,
    readiness: [
      { name: 'postgres', check: () => parts.database.ping() },
      { name: 'hot-state', check: () => parts.hotState.ping() },
      ...logSetupHealth(parts.eventLog),
      scheduling.health,
    ],
    // What fails is taken up again as it would be after a restart.
    liveness: [],
  })
  await admin.start()
  await scheduling.start()
  return {
    adminPort: () => admin.port,
    stop: async () => {
      await scheduling.stop()
      await admin.stop()
      await parts.close()
    },
  }
}
