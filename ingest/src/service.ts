import { embeddedFolder } from '@tollgate/platform/config/data-dir'
import { SettingsError } from '@tollgate/platform/config/settings'
import { createLogScrubber } from '@tollgate/platform/event-log/files/log-scrubber'
import { logSetupHealth } from '@tollgate/platform/event-log/log-health'
import { createMetrics, type Registry } from '@tollgate/platform/observability/metrics'
import type { Tracing } from '@tollgate/platform/observability/tracing'
import type { HealthCheck } from '@tollgate/platform/service/health'
import type { Service } from '@tollgate/platform/service/service'
import { hostService, type Host, type HostedService } from '@tollgate/platform/service/service-host'
import { findServiceSecret } from '@tollgate/platform/service/service-secret'
import { createBus, type Bus } from './bus/bus.ts'
import type { IngestConfig } from './config.ts'
import { openDataPlane, type DataPlane } from './data-plane.ts'
import { InFlightLimit } from './domain/in-flight-limit.ts'
import { createLogTrimmer } from './event-log/log-trimmer.ts'
import type { ProjectionFollower } from './hot-state/projection-follower.ts'
import { createFetchKey, createFetchMeters } from './http/fetch-key.ts'
import { createAnswerFailure } from './http/answer-failure.ts'
import { chooseFront } from './http/create-front.ts'
import type { CreateHttpFront, HttpFront } from './http/http-front.ts'
import { Proxy } from './http/proxy.ts'
import { hotRoutes } from './http/routes/hot-routes.ts'
import { traceFallback } from './http/trace-fallback.ts'
import { traceHotRoutes } from './http/trace-hot-routes.ts'
import { createForwardedWarning } from './http/warn-of-forwarded.ts'
import { createIngestCounts, createScrubMetrics } from './metrics.ts'
import { openParts, type Parts } from './open-parts.ts'
import { traceDataPlane } from './trace-data-plane.ts'

const dayMs = 86_400_000

export type IngestOverrides = Partial<Parts> & {
  readonly front?: CreateHttpFront
  /** Number of this process among the workers that share the port. Undefined if it has the port to itself. */
  readonly worker?: number | undefined
}

type IngestFacts = {
  readonly port: number
  readonly front: HttpFront['kind'] | undefined
  /** A line for the operator to read at the start, if there is one. */
  readonly notice: string | undefined
}

export type Ingest = HostedService<IngestFacts>

/**
 * Creates the service from its parts. Parts in `overrides` are used and not closed. All other parts are opened at the start and
 * closed at the stop.
 */
export function createIngest(config: IngestConfig, overrides: IngestOverrides = {}): Ingest {
  const atRest: IngestFacts = { port: config.port, front: undefined, notice: undefined }
  return hostService(config, atRest, (host) => open(config, overrides, host))
}

async function open(
  config: IngestConfig,
  overrides: IngestOverrides,
  host: Host,
): Promise<IngestFacts> {
  const parts = await host.own(openParts(config, overrides))
  const { logger, tracing } = parts
  const { worker } = overrides
  const metrics = createMetrics('ingest', worker === undefined ? {} : { worker: String(worker) })
  const counts = createIngestCounts(metrics)
  const onForwardedIgnored = createForwardedWarning(logger, parts.clock, () => {
    counts.forwardedIgnored++
  })
  const proxy = await host.own(createProxy(config, tracing, onForwardedIgnored))
  const elsewhere = {
    fetchKey: createFetchKey(proxy),
    fetchMeters: createFetchMeters(proxy),
    callControlPlane: proxy.post,
  }
  const opened = await openDataPlane(config, parts, metrics, counts, elsewhere)
  const dataPlane = tracing === undefined ? opened : traceDataPlane(tracing, opened)
  const { createFront, notice } = overrides.front
    ? { createFront: overrides.front, notice: undefined }
    : await chooseFront(config)
  const answerFailure = createAnswerFailure(logger)
  const routes = hotRoutes({
    ...dataPlane,
    counts,
    unknownNames: counts.unknownNames,
    callControlPlane: proxy.post,
  })
  const front = createFront({
    limits: {
      bodyBytesMax: config.bodyBytesMax,
      discardedBytesMax: config.discardedBodyBytesMax,
      collectedBytesMax: config.collectedBodyBytesMax,
    },
    hotRoutes: tracing === undefined ? routes : traceHotRoutes(tracing, routes, answerFailure),
    fallback: tracing === undefined ? proxy.forward : traceFallback(tracing, proxy.forward),
    answerFailure,
    onRefused: (status) => counts.countRefused(status),
    readsTraceHeaders: tracing !== undefined,
  })
  const scrubber = createScrubber(config, parts, metrics)
  const bus = await openBus(config, parts, metrics, dataPlane, proxy)
  const { follower } = dataPlane
  await host.serveHealth(
    metrics,
    readinessOf(config, parts, follower, [scrubber?.health, bus?.health]),
  )
  await host.start({
    start: async () => follower.start(),
    stop: async () => follower.stop(),
  })
  await host.start(createTrimmer(config, parts))
  if (scrubber !== undefined) await host.start(scrubber)
  let port = config.port
  // The listener and the bus stop first, because the requests and messages in progress need all other parts.
  await host.start({
    start: async () => {
      port = await front.listen(config.host, config.port, worker !== undefined)
      await bus?.start()
    },
    stop: async () => void (await Promise.all([front.close(config.shutdownGraceMs), bus?.stop()])),
  })
  return { port, front: front.kind, notice }
}

/** Returns undefined if no message bus is configured. */
async function openBus(
  config: IngestConfig,
  { logger }: Parts,
  metrics: Registry,
  dataPlane: DataPlane,
  proxy: Proxy,
): Promise<Bus | undefined> {
  if (config.natsUrl.length === 0) return undefined
  const serviceSecret = await findServiceSecret(config)
  if (serviceSecret === undefined) {
    throw new SettingsError(
      'TOLLGATE_SERVICE_SECRET is not set. Set it together with TOLLGATE_NATS_URL: ingest needs it to read the owners of customers from the control plane',
    )
  }
  return createBus(config, {
    ...dataPlane,
    callControlPlane: proxy.post,
    serviceSecret,
    logger,
    metrics,
  })
}

function createTrimmer(config: IngestConfig, parts: Parts): Service {
  const { eventLog: log, hotState, clock, logger } = parts
  return createLogTrimmer({
    log,
    hotState,
    clock,
    logger,
    retentionMs: config.logRetentionDays * dayMs,
    intervalMs: config.logTrimIntervalMs,
  })
}

/** Returns undefined for Kafka, whose brokers verify their own segments. */
function createScrubber(
  config: IngestConfig,
  { logger }: Parts,
  registry: Registry,
): ReturnType<typeof createLogScrubber> | undefined {
  const bytesPerSecond = config.logScrubKibibytesPerSecond * 1_024
  if (config.eventLog !== 'embedded' || bytesPerSecond === 0) return undefined
  return createLogScrubber({
    folder: embeddedFolder(config.dataDir, 'log'),
    bytesPerSecond,
    restMs: config.logScrubIntervalHours * 3_600_000,
    logger,
    ...createScrubMetrics(registry),
  })
}

function createProxy(
  config: IngestConfig,
  tracing: Tracing | undefined,
  onForwardedIgnored: (peer: string) => void,
): Proxy {
  return new Proxy({
    traceHeaders: () => tracing?.active()?.headers ?? {},
    upstream: config.controlPlaneUrl,
    connectionsMax: config.proxyConnectionsMax,
    headersTimeoutMs: config.proxyHeadersTimeoutMs,
    bodyTimeoutMs: config.proxyBodyTimeoutMs,
    trustedProxies: config.trustedProxies,
    onForwardedIgnored,
    inFlight: new InFlightLimit({
      countMax: config.proxyRequestsMax,
      bytesMax: config.proxyBytesMax,
    }),
  })
}

function readinessOf(
  config: IngestConfig,
  { eventLog, hotState }: Parts,
  follower: ProjectionFollower,
  optional: readonly (HealthCheck | undefined)[],
): HealthCheck[] {
  return [
    { name: 'event-log', check: () => eventLog.checkWritable() },
    { name: 'hot-state', check: () => hotState.ping() },
    ...logSetupHealth(eventLog),
    {
      name: 'counters-projection',
      check: async () => follower.assertMoving(config.stuckAfterMs),
    },
    ...optional.filter((each) => each !== undefined),
  ]
}
