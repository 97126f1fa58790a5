import type { AddressInfo } from 'node:net'
import { logSetupHealth } from '@tollgate/platform/event-log/log-health'
import { replicasHealth } from '@tollgate/platform/hot-state/replicas-health'
import { createMetrics, type Registry } from '@tollgate/platform/observability/metrics'
import type { HealthCheck } from '@tollgate/platform/service/health'
import { readFolderSecret } from '@tollgate/platform/service/folder-secret'
import { countDueEmails } from '@tollgate/domain/emails/queue-repository'
import {
  createTaxServiceClient,
  type TaxServiceParts,
} from '@tollgate/domain/tax-service/ask-tax-service'
import { createTaxServiceMetrics } from '@tollgate/domain/tax-service/tax-service-metrics'
import type { AskOutside } from '@tollgate/domain/unit-of-work/outside-question'
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
import { createMailer, type Mailer } from './customer-auth/mailer.ts'
import { createEmailMetrics, registerDueEmails } from './emails/email-metrics.ts'
import { createEmailSender, type EmailSenderParts } from './emails/email-sender.ts'
import { createMailServer } from './emails/hand-over.ts'
import { transportOf, type EmailTransport } from './emails/transport.ts'
import { buildApp } from './http/app.ts'
import { commit } from './access/commit.ts'
import { RequestClock } from './access/request-clock.ts'
import { withoutSlash } from '@tollgate/domain/sessions/hosted-url'
import { createExpiryAnnouncements } from './jobs/announce-expiry.ts'
import { createClockDeletion } from './jobs/delete-expired-clocks.ts'
import { createCreditExpiry } from './jobs/expire-credits.ts'
import { createCreditTakeBacks } from './jobs/take-back-credits.ts'
import { createDebitPosting } from './jobs/post-debits.ts'
import { createResponseErasure, createEventRetention } from './jobs/event-retention.ts'
import { createAlertJob } from './jobs/check-alerts.ts'
import { createUsageEventJob } from './jobs/emit-usage-events.ts'
import { createCorrectionJob } from './jobs/apply-corrections.ts'
import { createCustomerAuthPurge } from './jobs/purge-customer-auth.ts'
import { createPaymentJobs } from './jobs/payments.ts'
import { createAuditSealing, createLedgerSealing } from './jobs/seal-audit-log.ts'
import { createPublishPendingJob } from './jobs/publish-pending.ts'
import { createWebhookReplays } from './jobs/replay-webhooks.ts'
import type { ClockDeletionParts } from './test-clocks/delete-test-clock.ts'
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
import { basePathOf } from './pages/static-files.ts'
import { cardEntryOf } from './pages/card-entry.ts'
import { createAppendRecords } from './usage-corrections/append-records.ts'
import type { CorrectionParts } from './usage-corrections/correction-parts.ts'
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
  const opened = await host.own(openParts(config, overrides))
  const metrics = createMetrics('control-plane')
  const parts = { ...opened, ask: createTaxServiceClient(taxServiceParts(config, opened, metrics)) }
  const publisher: PublisherParts = {
    database: parts.database,
    hotState: parts.hotState,
    partitionCount: (environment) => parts.eventLog.partitionCount(usageTopic(environment)),
    now: () => new Date(parts.clock.now()),
  }
  const hostedUrl = withoutSlash(config.hostedUrl)
  const wallets = new Wallets({ ...parts, limits: walletLimits(config) })
  const payments = paymentParts(parts, publisher, hostedUrl)
  const lag = new UsageLag(() => performance.now())
  registerUsageLag(metrics, lag)
  const answers = createPeriodUsageAnswers(metrics)
  const { hotState, dataDir } = config
  const tailParts = createTailParts({ log: parts.eventLog, hotState: parts.hotState }, config)
  const usage = new PeriodUsage({ ...parts, ...tailParts, limits: config, answers })
  const { partitionCount } = publisher
  const requestClock = new RequestClock(parts.clock)
  const serviceSecret = await findServiceSecret(config)
  const corrections = correctionParts(config, parts, serviceSecret)
  const shared = { publisher, partitionCount, wallets, lag, usage, requestClock }
  const jobParts = { ...parts, ...corrections, ...shared }
  const emails = openEmails(config, { ...parts, publisher, hostedUrl, metrics })
  const jobs = [...createJobs(config, jobParts, payments), emails.sender]
  const app = await buildApp(
    {
      ...parts,
      ...{ clock: requestClock, requestClock, publisher, partitionCount },
      ...tailParts,
      usage,
      ...corrections,
      serviceSecret,
      payments,
      wallets,
      previews: new Previews(parts, config),
      folderSecret: hotState === 'embedded' ? await readFolderSecret(dataDir) : undefined,
      console: consoleParts(config, parts),
      openid: parts.upstreams.console,
      customerAuth: {
        config,
        mailer: emails.mailer,
        upstreams: parts.upstreams,
      },
      emailTransport: emails.transport,
      hostedUrl,
      demoFile: config.demoFile,
      ...processorParts(config),
      mcpProxyUrls: { sandbox: config.mcpSandboxUrl, live: config.mcpLiveUrl },
      limits: { ...config, portalOpenMs: config.portalOpenMinutes * 60_000 },
    },
    config,
    createRequestSeconds(metrics),
    createUnknownNames(metrics),
  )
  await parts.database.ping()
  for (const job of jobs) await host.start(job)
  await host.start(serve(app, config))
  await host.serveHealth(metrics, readinessOf(config, parts))
  return { port: (app.server.address() as AddressInfo).port }
}

/** Returns what browsers need of the payment processor. */
function processorParts(config: ControlPlaneConfig) {
  return {
    publishableKeys: {
      sandbox: config.stripeSandboxPublishableKey,
      live: config.stripeLivePublishableKey,
    },
    cardEntries: {
      sandbox: cardEntryOf(config.stripeSandboxUrl, config.stripeSandboxPublishableKey),
      live: cardEntryOf(config.stripeLiveUrl, config.stripeLivePublishableKey),
    },
  }
}

function serve(
  app: Awaited<ReturnType<typeof buildApp>>,
  { host, port }: ControlPlaneConfig,
): Service {
  return {
    start: async () => void (await app.listen({ host, port })),
    stop: () => app.close(),
  }
}

type StartedJobParts = Parameters<typeof createCreditTakeBacks>[0] &
  Parameters<typeof createCorrectionJob>[0] &
  Parameters<typeof createAlertJob>[0] &
  Pick<ClockDeletionParts, 'wallets' | 'requestClock'> & { readonly lag: UsageLag }

/** How often expired test clocks are looked for, in milliseconds. They are deleted days before they must be. */
const clockDeletionMs = 60_000

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
    createCorrectionJob(parts, config.correctionIntervalMs),
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
    createExpiryAnnouncements(parts, {
      aheadMs: config.creditExpiryNoticeDays * 86_400_000,
      intervalMs: config.creditExpiryIntervalMs,
    }),
    createCreditTakeBacks(parts, config.paymentsIntervalMs),
    createClockDeletion(
      { ...parts, clock: parts.requestClock, payments, limits: config },
      clockDeletionMs,
    ),
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

type OpenedEmails = {
  readonly mailer: Mailer
  readonly transport: EmailTransport
  readonly sender: Service
}

function openEmails(
  config: ControlPlaneConfig,
  {
    metrics,
    ...parts
  }: Omit<EmailSenderParts, 'basePath' | 'transport' | 'mailServer' | 'metrics' | 'limits'> & {
    readonly metrics: Registry
    readonly clock: Parts['clock']
  },
): OpenedEmails {
  const { publisher, hostedUrl, logger, clock } = parts
  const mailer = createMailer(config, { database: parts.database, clock, hostedUrl })
  const transport = transportOf(config, mailer)
  registerDueEmails(metrics, (space) =>
    countDueEmails(publisher.database.in(space), publisher.now()),
  )
  const sender = createEmailSender({
    ...parts,
    transport,
    basePath: basePathOf(hostedUrl),
    mailServer:
      transport.kind === 'smtp'
        ? createMailServer(transport.smtpUrl, config.emailTimeoutMs, logger)
        : undefined,
    metrics: createEmailMetrics(metrics),
    limits: emailLimits(config),
  })
  return { mailer, transport, sender }
}

function emailLimits(config: ControlPlaneConfig): EmailSenderParts['limits'] {
  return {
    ageMsMax: config.emailAgeHoursMax * 3_600_000,
    linkMs: config.emailLinkDays * 86_400_000,
    pollMs: config.emailPollMs,
    connectionsMax: config.emailConnectionsMax,
    timeoutMs: config.emailTimeoutMs,
    retryDelaysSeconds: config.emailRetryDelaysSeconds,
    keptMs: config.emailsKeptDays * 86_400_000,
    inboxMessagesMax: config.inboxMessagesMax,
  }
}

function taxServiceParts(
  config: ControlPlaneConfig,
  { clock, taxServices, ...parts }: Parts,
  metrics: Registry,
): TaxServiceParts {
  return {
    ...parts,
    outbound: taxServices,
    now: () => new Date(clock.now()),
    count: createTaxServiceMetrics(metrics),
    limits: config,
  }
}

function paymentParts(
  parts: Parts & { readonly ask: AskOutside },
  publisher: PublisherParts,
  hostedUrl: string,
): PaymentParts {
  const { database, processors, taxRegister, ask } = parts
  return {
    ask,
    database,
    processors,
    taxRegister,
    commit: (operation, body) => commit({ ...parts, publisher }, operation, body),
    now: publisher.now,
    hostedUrl,
  }
}

function correctionParts(
  config: ControlPlaneConfig,
  { appendCorrections }: Parts,
  serviceSecret: string | undefined,
): Pick<CorrectionParts, 'appendRecords' | 'correctionLimits'> {
  return {
    appendRecords: appendCorrections ?? createAppendRecords(config.ingestUrl, serviceSecret),
    correctionLimits: {
      pageRecords: config.correctionPageRecords,
      storedWaitMs: config.usageStoreWaitMs,
      previewRecordsMax: config.correctionPreviewRecordsMax,
      waitMs: config.correctionWaitMs,
      triesMax: config.correctionTriesMax,
      retryAfterMs: config.correctionRetryMinutes * 60_000,
    },
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
