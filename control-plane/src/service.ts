import type { AddressInfo } from 'node:net'
import { logSetupHealth } from '@tollgate/platform/event-log/log-health'
import { replicasHealth } from '@tollgate/platform/hot-state/replicas-health'
import { createMetrics } from '@tollgate/platform/observability/metrics'
import type { HealthCheck } from '@tollgate/platform/service/health'
import { readFolderSecret } from '@tollgate/platform/service/folder-secret'
import type { Service } from '@tollgate/platform/service/service'
import { hostService, type Host, type HostedService } from '@tollgate/platform/service/service-host'
import { findServiceSecret } from '@tollgate/platform/service/service-secret'
import { createTailParts } from '@tollgate/domain/entitlements/tail-parts'
import type { ConsoleParts } from '@tollgate/domain/console/console-parts'
import { Passwords } from '@tollgate/domain/console/passwords'
import type { PaymentParts } from '@tollgate/domain/payments/payment-parts'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import { usageTopic } from '@tollgate/schemas/topics'
import type { ControlPlaneConfig } from './config.ts'
import { createMailer } from './customer-auth/mailer.ts'
import { buildApp } from './http/app.ts'
import { commit } from './access/commit.ts'
import { withoutSlash } from '@tollgate/domain/sessions/hosted-url'
import { createCreditExpiry } from './jobs/expire-credits.ts'
import { createCreditTakeBacks } from './jobs/take-back-credits.ts'
import { createDebitPosting } from './jobs/post-debits.ts'
import { createResponseErasure, createEventRetention } from './jobs/event-retention.ts'
import { createAlertJob } from './jobs/check-alerts.ts'
import { createUsageEventJob } from './jobs/emit-usage-events.ts'
import { createCustomerAuthPurge } from './jobs/purge-customer-auth.ts'
import { createPaymentJobs } from './jobs/payments.ts'
import { createAuditSealing, createLedgerSealing } from './jobs/seal-audit-log.ts'
import { createPublishPendingJob } from './jobs/publish-pending.ts'
import { createWebhookReplays } from './jobs/replay-webhooks.ts'
import { UsageLag } from './jobs/usage-lag.ts'
import { Previews } from './previews/previews.ts'
import { PeriodUsage } from './limits/period-usage.ts'
import {
  createPeriodUsageAnswers,
  createRequestSeconds,
  createUnknownNames,
  registerUsageLag,
} from './metrics.ts'
import { openParts, type Parts } from './open-parts.ts'
import { cardEntryOf } from './pages/card-entry.ts'
import { Wallets, type WalletsParts } from './wallets/wallets.ts'

type Facts = {
  /** Port of the API after the start. */
  readonly port: number
}

export type ControlPlane = HostedService<Facts>

/**
 * The composition root. Parts in `overrides` are used but not closed. All other parts are opened at the start and closed at the
 * stop.
 */
export function createControlPlane(
  config: ControlPlaneConfig,
  overrides: Partial<Parts> = {},
): ControlPlane {
  return hostService<Facts>(config, { port: config.port }, (host) =>
    openControlPlane(config, overrides, host),
  )
}

/** Publications that a crash left pending are completed before the service accepts its first request. */
async function openControlPlane(
  config: ControlPlaneConfig,
  overrides: Partial<Parts>,
  host: Host,
): Promise<Facts> {
  const parts = await host.own(openParts(config, overrides))
  const publisher: PublisherParts = {
    database: parts.database,
    hotState: parts.hotState,
    partitionCount: (environment) => parts.eventLog.partitionCount(usageTopic(environment)),
    now: () => new Date(parts.clock.now()),
  }
  const hostedUrl = withoutSlash(config.hostedUrl)
  const wallets = new Wallets({ ...parts, limits: walletLimits(config) })
  const payments = paymentParts(parts, publisher, hostedUrl)
  const metrics = createMetrics('control-plane')
  const lag = new UsageLag(() => performance.now())
  registerUsageLag(metrics, lag)
  const answers = createPeriodUsageAnswers(metrics)
  const { hotState, dataDir } = config
  const tailParts = createTailParts({ log: parts.eventLog, hotState: parts.hotState }, config)
  const usage = new PeriodUsage({ ...parts, ...tailParts, limits: config, answers })
  const { partitionCount } = publisher
  const jobParts = { ...parts, publisher, partitionCount, wallets, lag, usage }
  const jobs = createJobs(config, jobParts, payments)
  const app = await buildApp(
    {
      ...parts,
      publisher,
      partitionCount: publisher.partitionCount,
      ...tailParts,
      usage,
      serviceSecret: await findServiceSecret(config),
      payments,
      wallets,
      previews: new Previews(parts, config),
      folderSecret: hotState === 'embedded' ? await readFolderSecret(dataDir) : undefined,
      console: consoleParts(config, parts),
      customerAuth: {
        config,
        mailer: createMailer(config, { ...parts, hostedUrl }),
        upstreams: parts.upstreams,
      },
      hostedUrl,
      demoFile: config.demoFile,
      publishableKeys: {
        sandbox: config.stripeSandboxPublishableKey,
        live: config.stripeLivePublishableKey,
      },
      cardEntries: {
        sandbox: cardEntryOf(config.stripeSandboxUrl, config.stripeSandboxPublishableKey),
        live: cardEntryOf(config.stripeLiveUrl, config.stripeLivePublishableKey),
      },
      mcpProxyUrls: { sandbox: config.mcpSandboxUrl, live: config.mcpLiveUrl },
      limits: { ...config, portalOpenMs: config.portalOpenMinutes * 60_000 },
    },
    config,
    createRequestSeconds(metrics),
    createUnknownNames(metrics),
  )
  await parts.database.ping()
  for (const job of jobs) await host.start(job)
  await host.start({
    start: async () => void (await app.listen({ host: config.host, port: config.port })),
    stop: () => app.close(),
  })
  await host.serveHealth(metrics, readinessOf(config, parts))
  return { port: (app.server.address() as AddressInfo).port }
}

type StartedJobParts = Parameters<typeof createCreditTakeBacks>[0] &
  Parameters<typeof createAlertJob>[0] & { readonly lag: UsageLag }

/** Returns the jobs in the order in which they start. */
function createJobs(
  config: ControlPlaneConfig,
  parts: Parts & StartedJobParts,
  payments: PaymentParts,
): Service[] {
  const { publisher, logger, database: everyone } = parts
  const paymentJobs = createPaymentJobs(
    { ...payments, everyone, now: publisher.now, logger },
    {
      intervalMs: config.paymentsIntervalMs,
      eventsPollMs: config.processorPollSeconds * 1_000,
      eventsKeptMs: config.processorEventsKeptDays * 86_400_000,
    },
  )
  return [
    createPublishPendingJob(publisher, logger, config.publishIntervalMs),
    createDebitPosting(parts, config.ledgerIntervalMs),
    createUsageEventJob(parts, config.usageEventsIntervalMs),
    createAlertJob(parts, {
      intervalMs: config.alertIntervalMs,
      inFlightMax: config.alertChecksMax,
    }),
    createEventRetention(parts, {
      keptMs: config.eventsKeptDays * 86_400_000,
      intervalMs: config.eventRetentionIntervalMs,
    }),
    createResponseErasure(parts, config.answerErasureIntervalMs),
    createCustomerAuthPurge(parts, {
      accessTokenMs: config.accessTokenMinutes * 60_000,
      intervalMs: config.customerAuthIntervalMs,
    }),
    createCreditExpiry(parts, config.creditExpiryIntervalMs),
    createCreditTakeBacks(parts, config.paymentsIntervalMs),
    createAuditSealing(parts, config.auditSealIntervalMs),
    createLedgerSealing(parts, config.auditSealIntervalMs),
    createWebhookReplays(parts, {
      intervalMs: config.webhookReplayIntervalMs,
      deliveriesMax: config.webhookReplayBatchMax,
      waitingMax: config.webhookReplayWaitingMax,
    }),
    paymentJobs,
  ]
}

function paymentParts(parts: Parts, publisher: PublisherParts, hostedUrl: string): PaymentParts {
  const { database, processors } = parts
  return {
    database,
    processors,
    commit: (operation, body) => commit({ ...parts, publisher }, operation, body),
    hostedUrl,
  }
}

function walletLimits(config: ControlPlaneConfig): WalletsParts['limits'] {
  return {
    waitMs: config.countersWaitMs,
    heldMs: config.creditsHeldSeconds * 1_000,
    heldMax: config.creditsHeldMax,
    tailRecordsMax: config.tailRecordsMax,
    storedBalancesMax: config.storedUsageChecksMax,
  }
}

function consoleParts(config: ControlPlaneConfig, { database }: Parts): ConsoleParts {
  return {
    database,
    passwords: new Passwords(config.passwordCost),
    limits: {
      signedInMs: config.signedInHours * 3_600_000,
      passwordLinkMs: config.passwordLinkHours * 3_600_000,
      knownBrowserMs: config.knownBrowserDays * 86_400_000,
      attempts: {
        windowMs: config.signInWindowMinutes * 60_000,
        perEmailMax: config.signInsPerEmailMax,
        perAddressMax: config.signInsPerAddressMax,
      },
    },
  }
}

/**
 * Returns the readiness checks. ClickHouse is not among them: while the hot state is available, only usage queries need ClickHouse.
 */
function readinessOf(config: ControlPlaneConfig, parts: Parts): HealthCheck[] {
  return [
    { name: 'postgres', check: () => parts.database.ping() },
    { name: 'hot-state', check: () => parts.hotState.ping() },
    ...logSetupHealth(parts.eventLog),
    ...replicasHealth(parts.hotState, config),
  ]
}
