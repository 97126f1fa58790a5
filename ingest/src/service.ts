import { createMetrics } from '@tollgate/platform/observability/metrics'
import { createAdminServer } from '@tollgate/platform/service/admin-server'
import type { HealthCheck } from '@tollgate/platform/service/health'
import type { Service } from '@tollgate/platform/service/service'
import type { IngestConfig } from './config.ts'
import { InFlightLimit } from './domain/in-flight-limit.ts'
import { loadRecentKeys } from './event-log/load-recent-keys.ts'
import { LogRecorder } from './event-log/log-recorder.ts'
import { createReferenceSource } from './event-log/random-references.ts'
import { RecentKeys } from './event-log/recent-keys.ts'
import { KeyCache } from './hot-state/key-cache.ts'
import { MetersCache } from './hot-state/meters-cache.ts'
import { ProjectionFollower } from './hot-state/projection-follower.ts'
import { createAnswerFailure } from './http/answer-failure.ts'
import { chooseFront } from './http/create-front.ts'
import type { CreateHttpFront, HttpFront } from './http/http-front.ts'
import { Proxy } from './http/proxy.ts'
import { hotRoutes } from './http/routes/hot-routes.ts'
import { createIngestCounts, registerGauges } from './metrics.ts'
import { openParts, type OpenedParts, type Parts } from './open-parts.ts'

export type IngestOverrides = Partial<Parts> & {
  readonly front?: CreateHttpFront
}

export type Ingest = Service & {
  readonly port: number
  readonly adminPort: number
  readonly front: HttpFront['kind'] | undefined
}

/**
 * The composition root. What is passed in `overrides` is used and not closed; the rest is opened at the start and
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
  readonly stop: () => Promise<void>
}

async function run(
  config: IngestConfig,
  parts: OpenedParts,
  givenFront: CreateHttpFront | undefined,
): Promise<Running> {
  const { clock, logger, eventLog, hotState } = parts
  const metrics = createMetrics('ingest')
  const counts = createIngestCounts(metrics)
  const appends = new InFlightLimit({
    countMax: config.appendsInFlightMax,
    bytesMax: config.appendBytesInFlightMax,
  })
  const recentKeys = new RecentKeys(config.recentKeysMax)
  await loadRecentKeys(eventLog, hotState, recentKeys, config.recentKeysMax)
  registerGauges(metrics, {
    appendsInFlight: () => appends.count,
    appendBytesInFlight: () => appends.bytes,
    recentKeys: () => recentKeys.size,
  })
  const follower = new ProjectionFollower({
    log: eventLog,
    hotState,
    onApplied: (environment, partition, offset) =>
      recentKeys.forgetApplied(environment, partition, offset),
    onFailure: (error) => logger.warn({ err: error }, 'cannot see how far the counters are'),
    intervalMs: config.followIntervalMs,
  })
  const cacheLimits = { freshMs: config.cacheFreshMs, staleMs: config.cacheStaleMs }
  const proxy = createProxy(config)
  const createFront = givenFront ?? (await chooseFront(config, logger))
  const front = createFront({
    limits: {
      bodyBytesMax: config.bodyBytesMax,
      discardedBytesMax: config.discardedBodyBytesMax,
      collectedBytesMax: config.collectedBodyBytesMax,
    },
    hotRoutes: hotRoutes({
      keys: new KeyCache(hotState, clock, {
        ...cacheLimits,
        keysMax: config.cachedKeysMax,
        refusedMax: config.cachedRefusedKeysMax,
      }),
      meters: new MetersCache(hotState, {
        ...cacheLimits,
        providersMax: config.cachedProvidersMax,
      }),
      recorder: new LogRecorder({ log: eventLog, hotState, recentKeys, inFlight: appends, counts }),
      debits: { decide: () => undefined },
      nowMs: () => clock.now(),
      randomReference: createReferenceSource(),
    }),
    fallback: proxy.forward,
    answerFailure: createAnswerFailure(logger),
  })
  const admin = createAdminServer({
    host: config.adminHost,
    port: config.adminPort,
    metrics,
    liveness: [],
    readiness: readinessOf(config, parts, follower),
  })
  await admin.start()
  const port = await front.listen(config.host, config.port)
  follower.start()
  return {
    port,
    adminPort: () => admin.port,
    front: front.kind,
    // The front first: what it still answers needs all the others.
    stop: async () => {
      await front.close(config.shutdownGraceMs)
      follower.stop()
      await proxy.close()
      await admin.stop()
      await parts.close()
    },
  }
}

function createProxy(config: IngestConfig): Proxy {
  return new Proxy({
    upstream: config.controlPlaneUrl,
    connectionsMax: config.proxyConnectionsMax,
    headersTimeoutMs: config.proxyHeadersTimeoutMs,
    bodyTimeoutMs: config.proxyBodyTimeoutMs,
    trustsForwardedHeaders: config.trustForwardedHeaders === 'yes',
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
): HealthCheck[] {
  return [
    { name: 'event-log', check: () => eventLog.checkWritable() },
    { name: 'hot-state', check: () => hotState.ping() },
    {
      name: 'counters-projection',
      check: async () => follower.assertMoving(config.stuckAfterMs),
    },
  ]
}
