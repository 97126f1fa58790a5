import { countUnsettledEvents } from '@tollgate/domain/payments/inbox-repository'
import { createTaxServiceMetrics } from '@tollgate/domain/tax-service/tax-service-metrics'
import { logSetupHealth } from '@tollgate/platform/event-log/log-health'
import { createMetrics } from '@tollgate/platform/observability/metrics'
import { hostService, type Host, type HostedService } from '@tollgate/platform/service/service-host'
import type { BillingRunnerConfig } from './config.ts'
import { createJobs } from './jobs/job-catalogue.ts'
import { createReconciliation } from './jobs/reconcile.ts'
import { createClockRunner } from './test-clocks/advance-clocks.ts'
import { createClockJobs } from './test-clocks/clock-jobs.ts'
import { createCreditExpiry, createExpiryAnnouncement } from './test-clocks/expire-credits.ts'
import { createScheduling } from './jobs/run-schedule.ts'
import { createJobMetrics, registerOverdueEvents } from './metrics.ts'
import { createSettlePayments } from './test-clocks/settle-payments.ts'
import {
  openParts,
  paymentPartsOf,
  publisherOf,
  taxServiceClientOf,
  type Parts,
} from './open-parts.ts'

export type BillingRunner = HostedService

/**
 * Creates the service from its parts. Parts in `overrides` are used and not closed. All other parts are opened at the start and
 * closed at the stop.
 */
export function createBillingRunner(
  config: BillingRunnerConfig,
  overrides: Partial<Parts> = {},
): BillingRunner {
  return hostService(config, {}, (host) => open(config, overrides, host))
}

/** Milliseconds after which an unsettled event counts as overdue. By then it was attempted several times. */
const eventsOverdueMs = 3_600_000

async function open(
  config: BillingRunnerConfig,
  overrides: Partial<Parts>,
  host: Host,
): Promise<object> {
  const opened = await host.own(openParts(config, overrides))
  const registry = createMetrics('billing-runner')
  const ask = taxServiceClientOf(config, opened, createTaxServiceMetrics(registry))
  const parts = { ...opened, ask }
  const jobMetrics = createJobMetrics(registry)
  registerOverdueEvents(registry, (environment) =>
    countUnsettledEvents(
      parts.database.in(environment),
      new Date(parts.clock.now() - eventsOverdueMs),
    ),
  )
  const publisher = publisherOf(parts)
  const jobs = createJobs(config, parts)
  const clockRunner = createClockRunner(
    {
      publisher,
      ask,
      logger: parts.logger,
      limits: config,
      settlePayments: createSettlePayments(paymentPartsOf(config, parts)),
    },
    createClockJobs(jobs, createExpiryAnnouncement(config), createCreditExpiry(config, parts)),
  )
  const scheduling = createScheduling(
    {
      publisher,
      ask,
      logger: parts.logger,
      limits: config,
      metrics: jobMetrics,
      lookIntervalMs: config.lookIntervalMs,
      stuckAfterMs: config.stuckAfterMs,
    },
    [...jobs, createReconciliation(config, parts, jobMetrics)],
  )
  await host.serveHealth(registry, [
    { name: 'postgres', check: () => parts.database.ping() },
    { name: 'hot-state', check: () => parts.hotState.ping() },
    ...logSetupHealth(parts.eventLog),
    scheduling.health,
  ])
  await host.start(scheduling)
  await host.start(clockRunner)
  return {}
}
