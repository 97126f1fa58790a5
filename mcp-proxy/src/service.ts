import { listKnownSubdomains } from '@tollgate/domain/catalog/mcp-servers-repository'
import { createMetrics, type Registry } from '@tollgate/platform/observability/metrics'
import { createAdminServer } from '@tollgate/platform/service/admin-server'
import type { HealthCheck } from '@tollgate/platform/service/health'
import type { Service } from '@tollgate/platform/service/service'
import type { McpProxyConfig } from './config.ts'
import type { Gate } from './gate/gate.ts'
import { openGate } from './gate/open-gate.ts'
import { ServiceCalls } from './services/service-calls.ts'
import { ControlPlaneForwarder } from './http/control-plane-forwarder.ts'
import { ProxyServer } from './proxy-server.ts'
import { createRouter } from './http/route.ts'
import { OpenCalls } from './mcp/open-calls.ts'
import type { McpEndpoint } from './mcp/serve-mcp.ts'
import { OpenRequests } from './mcp/open-requests.ts'
import { OpenStreams } from './mcp/open-streams.ts'
import type { McpParts } from './mcp/served-request.ts'
import { createProxyMetrics, registerOpenGauges } from './metrics.ts'
import { openParts, type OpenedParts, type Parts } from './open-parts.ts'
import { OriginClient } from './origin/origin-client.ts'
import { Sealer } from './sealing/sealer.ts'
import type { FreshCacheOptions } from './servers/fresh-cache.ts'
import { loadServer } from './servers/load-server.ts'
import { ServerDirectory } from './servers/server-directory.ts'
import { ToolWatch } from './servers/tool-watch.ts'
import { OriginSessions } from './sessions/origin-sessions.ts'
import { tokenAuthorities } from './tokens/token-authority.ts'
import { TokenVerifier } from './tokens/token-verifier.ts'

export type McpProxy = Service & {
  /** Where MCP clients connect, once started. */
  readonly port: number
  /** Where health and metrics are served, once started. */
  readonly adminPort: number
}

/**
 * The composition root. What is passed in `overrides` is used and not closed; the rest is opened at the start and closed at the
 * stop.
 */
export function createMcpProxy(config: McpProxyConfig, overrides: Partial<Parts> = {}): McpProxy {
  let running: Running | undefined
  return {
    get port() {
      return running?.port ?? config.port
    },
    get adminPort() {
      return running?.adminPort ?? config.adminPort
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

type Running = {
  readonly port: number
  readonly adminPort: number
  readonly stop: () => Promise<void>
}

const serversMax = 10_000
/** At a time; a discovery waits for the MCP server. */
const discoveriesMax = 8
const discoveryTimeoutMs = 30_000

async function run(config: McpProxyConfig, parts: OpenedParts): Promise<Running> {
  const { clock, database, secrets, logger, tracing } = parts
  const registry = createMetrics('mcp-proxy')
  const gate = await gateOf(config, parts, registry)
  const { freshMs, staleMaxMs } = config
  const caching: FreshCacheOptions = { clock, freshMs, staleMaxMs, entriesMax: serversMax }
  const templates = { sandbox: config.mcpSandboxUrl, live: config.mcpLiveUrl }
  const servers = new ServerDirectory(caching, {
    load: (environment, subdomain) => {
      const place = { environment, subdomain, template: templates[environment] }
      return loadServer(database.in(environment), secrets, place)
    },
    listKnown: (environment, subdomains) =>
      listKnownSubdomains(database.in(environment), subdomains),
  })
  const forwarder = new ControlPlaneForwarder(
    config.controlPlaneUrl,
    config.requestTimeoutMs,
    config.trustedProxies,
    logger,
  )
  const controlPlane = new ServiceCalls({
    origin: config.controlPlaneUrl,
    secret: parts.serviceSecret,
    connectionsMax: discoveriesMax,
  })
  const toolWatch = toolWatchOf(config, parts, controlPlane)
  const readServer: McpParts['readServer'] = ({ environment, subdomain }) =>
    servers.get(environment, subdomain)
  const endpoint = endpointOf(config, parts, gate.gate, registry, caching, {
    toolWatch,
    readServer,
  })
  const route = createRouter(templates)
  const server = new ProxyServer({ endpoint, route, servers, forwarder, tracing, logger })
  const admin = createAdminServer({
    host: config.adminHost,
    port: config.adminPort,
    metrics: registry,
    // What was read last is served while PostgreSQL is away.
    readiness: [
      { name: 'postgres', check: () => database.ping(), onlyDegrades: true },
      ...gate.health,
    ],
    liveness: [],
  })
  await admin.start()
  await server.listen(config.host, config.port)
  return {
    port: server.port,
    adminPort: admin.port,
    // Calls finish before the gate stops: their records are written at their ends.
    stop: async () => {
      await server.close(config.stopMs)
      await gate.stop()
      await controlPlane.close()
      forwarder.close()
      await admin.stop()
      await parts.close()
    },
  }
}

type RunningGate = {
  readonly gate: Gate
  readonly health: readonly HealthCheck[]
  readonly stop: () => Promise<void>
}

async function gateOf(
  config: McpProxyConfig,
  parts: OpenedParts,
  registry: Registry,
): Promise<RunningGate> {
  const { gate, clock, logger, serviceSecret } = parts
  if (gate !== undefined) return { gate, health: [], stop: () => Promise.resolve() }
  const { ingestUrl, controlPlaneUrl, dataDir } = config
  const opened = await openGate({
    ...{ ingestUrl, controlPlaneUrl, dataDir, serviceSecret },
    ...{ limits: config, clock, logger, metrics: registry },
  })
  return { gate: opened.gate, health: [opened.health], stop: () => opened.stop() }
}

function toolWatchOf(
  { discoveryPauseMs }: McpProxyConfig,
  { clock, logger }: OpenedParts,
  controlPlane: ServiceCalls,
): ToolWatch {
  return new ToolWatch({
    discover: (server) => {
      const path = `/v1/ui/products/${server.productRef}/mcp/discover`
      return controlPlane.post(path, server, {}, discoveryTimeoutMs)
    },
    ...{ pauseMs: discoveryPauseMs, clock, logger },
  })
}

function endpointOf(
  config: McpProxyConfig,
  parts: OpenedParts,
  gate: Gate,
  registry: Registry,
  caching: FreshCacheOptions,
  watching: Pick<McpParts, 'toolWatch' | 'readServer'>,
): McpEndpoint {
  const { clock, logger, database, outbound, streamOutbound, serviceSecret } = parts
  const origin = new OriginClient(outbound, streamOutbound, config)
  const streams = new OpenStreams({
    perCustomerMax: config.streamsPerCustomerMax,
    perServerMax: config.streamsPerServerMax,
    totalMax: config.streamsMax,
  })
  const requestLimits = {
    perCustomerMax: config.requestsPerCustomerMax,
    perServerMax: config.requestsPerServerMax,
    totalMax: config.requestsMax,
  }
  const openRequests = new OpenRequests(requestLimits)
  registerOpenGauges(registry, { requests: () => openRequests.size, streams: () => streams.size })
  return {
    parts: {
      ...{ config, clock, logger, gate, origin, ...watching, openRequests, streams },
      openOneWay: new OpenRequests(requestLimits),
      metrics: createProxyMetrics(registry),
      sessions: new OriginSessions(origin, config.sessionsRememberedMax),
      sealer: new Sealer(serviceSecret),
      openCalls: new OpenCalls(config.cancelGraceMs),
    },
    tokens: new TokenVerifier(tokenAuthorities(database, caching), clock),
  }
}
