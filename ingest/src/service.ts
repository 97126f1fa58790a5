import { embeddedFolder } from '@tollgate/platform/config/data-dir'
import { SettingsError } from '@tollgate/platform/config/settings'
import { createLogScrubber } from '@tollgate/platform/event-log/files/log-scrubber'
import { logSetupHealth } from '@tollgate/platform/event-log/log-health'
import { createMetrics, type Registry } from '@tollgate/platform/observability/metrics'
import type { Tracing } from '@tollgate/platform/observability/tracing'
import { createAdminServer } from '@tollgate/platform/service/admin-server'
import type { HealthCheck } from '@tollgate/platform/service/health'
import type { Service } from '@tollgate/platform/service/service'
import { findServiceSecret } from '@tollgate/platform/service/service-secret'
import { createBus, type Bus } from './bus/bus.ts'
import type { IngestConfig } from './config.ts'
import { openDataPlane, type DataPlane } from './data-plane.ts'
import { InFlightLimit } from './domain/in-flight-limit.ts'
import { createLogTrimmer } from './event-log/log-trimmer.ts'
import type { ProjectionFollower } from './hot-state/projection-follower.ts'
import { createFetchKey } from './http/fetch-key.ts'
import { createAnswerFailure } from './http/answer-failure.ts'
import { chooseFront } from './http/create-front.ts'
import type { CreateHttpFront, HttpFront } from './http/http-front.ts'
import { Proxy } from './http/proxy.ts'
import { hotRoutes } from './http/routes/hot-routes.ts'
import { traceFallback } from './http/trace-fallback.ts'
import { traceHotRoutes } from './http/trace-hot-routes.ts'
import { createForwardedWarning } from './http/warn-of-forwarded.ts'
import { createIngestCounts, createScrubMetrics } from './metrics.ts'
import { openParts, type OpenedParts, type Parts } from './open-parts.ts'
import { traceDataPlane } from './trace-data-plane.ts'

const dayMs = 86_400_000

export type IngestOverrides = Partial<Parts> & {
  readonly front?: CreateHttpFront
}

export type Ingest = Service & {
  readonly port: number
  readonly adminPort: number
  readonly front: HttpFront['kind'] | undefined
  /** A line for the operator to read at the start, if there is one. */
  readonly notice: string | undefined
}

/**
 * Creates the service from its parts. Parts in `overrides` are used and not closed. All other parts are opened at the start and
 * closed at the stop.
 */
export function createIngest(config: IngestConfig, overrides: IngestOverrides = {}): Ingest {
  let running: Running | undefined
  return {
    get port() {
      return running?.port ?? config.port
    },
    get adminPort() {
      return running?.adminPort() ?? config.adminPort
    },
    get front() {
      return running?.front
    },
    get notice() {
      return running?.notice
    },
    start: async () => {
      const parts = await openParts(config, overrides)
      try {
        running = await run(config, parts, overrides.front)
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

type Running = {
  readonly port: number
  readonly adminPort: () => number
  readonly front: HttpFront['kind']
  readonly notice: string | undefined
  readonly stop: () => Promise<void>
}

async function run(
  config: IngestConfig,
  parts: OpenedParts,
  givenFront: CreateHttpFront | undefined,
): Promise<Running> {
  const { logger, tracing } = parts
  const metrics = createMetrics('ingest')
  const counts = createIngestCounts(metrics)
  const onForwardedIgnored = createForwardedWarning(logger, parts.clock, () => {
    counts.forwardedIgnored++
  })
  const proxy = createProxy(config, tracing, onForwardedIgnored)
  const controlPlane = { fetchKey: createFetchKey(proxy), callControlPlane: proxy.post }
  const opened = await openDataPlane(config, parts, metrics, counts, controlPlane)
  const dataPlane = tracing === undefined ? opened : traceDataPlane(tracing, opened)
  const { createFront, notice } = givenFront
    ? { createFront: givenFront, notice: undefined }
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
  const admin = createAdminServer({
    host: config.adminHost,
    port: config.adminPort,
    metrics,
    liveness: [],
    readiness: readinessOf(config, parts, dataPlane.follower, [scrubber?.health, bus?.health]),
  })
  await admin.start()
  const port = await front.listen(config.host, config.port)
  dataPlane.follower.start()
  const trimmer = createTrimmer(config, parts)
  await trimmer.start()
  await scrubber?.start()
  await bus?.start()
  return {
    port,
    adminPort: () => admin.port,
    front: front.kind,
    notice,
    // Stop the listener and the bus first, because the requests and messages in progress need all other parts.
    stop: async () => {
      await Promise.all([front.close(config.shutdownGraceMs), bus?.stop()])
      dataPlane.follower.stop()
      await trimmer.stop()
      await scrubber?.stop()
      await proxy.close()
      await admin.stop()
      await parts.close()
    },
  }
}

/** Returns undefined if no message bus is configured. */
async function openBus(
  config: IngestConfig,
  { logger }: OpenedParts,
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

function createTrimmer(config: IngestConfig, parts: OpenedParts): Service {
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
  { logger }: OpenedParts,
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
  { eventLog, hotState }: OpenedParts,
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
