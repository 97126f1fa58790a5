import { listUsedSubdomains } from '@tollgate/domain/catalog/mcp-servers-repository'
import { createMetrics, type Registry } from '@tollgate/platform/observability/metrics'
import type { HealthCheck } from '@tollgate/platform/service/health'
import { hostService, type Host, type HostedService } from '@tollgate/platform/service/service-host'
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
import { openParts, type Parts } from './open-parts.ts'
import { OriginClient } from './origin/origin-client.ts'
import { Sealer } from './sealing/sealer.ts'
import type { FreshCacheOptions } from './servers/fresh-cache.ts'
import { loadServer } from './servers/load-server.ts'
import { ServerDirectory } from './servers/server-directory.ts'
import { ToolWatch } from './servers/tool-watch.ts'
import { OriginSessions } from './sessions/origin-sessions.ts'
import { tokenAuthorities } from './tokens/token-authority.ts'
import { TokenVerifier } from './tokens/token-verifier.ts'

type Facts = {
  /** Port on which MCP clients connect. Known after the start. */
  readonly port: number
}

export type McpProxy = HostedService<Facts>

/**
 * Creates the service: the composition root. Parts passed in `overrides` are used but not closed. All other parts are opened at
 * start and closed at stop.
 */
export function createMcpProxy(config: McpProxyConfig, overrides: Partial<Parts> = {}): McpProxy {
  return hostService<Facts>(config, { port: config.port }, (host) => open(config, overrides, host))
}

const serversMax = 10_000
/** Maximum discoveries at the same time. Each waits for its MCP server. */
const discoveriesMax = 8
const discoveryTimeoutMs = 30_000

async function open(config: McpProxyConfig, overrides: Partial<Parts>, host: Host): Promise<Facts> {
  const parts = await host.own(openParts(config, overrides))
  const { clock, database, secrets, logger, tracing } = parts
  const registry = createMetrics('mcp-proxy')
  const gate = await gateOf(config, parts, registry)
  // The gate stops after the calls have ended, because a call writes its record at its end.
  await host.start({ start: () => Promise.resolve(), stop: () => gate.stop() })
  const { freshMs, staleMaxMs } = config
  const caching: FreshCacheOptions = { clock, freshMs, staleMaxMs, entriesMax: serversMax }
  const templates = { sandbox: config.mcpSandboxUrl, live: config.mcpLiveUrl }
  const servers = new ServerDirectory(caching, {
    load: (environment, subdomain) => {
      const place = { environment, subdomain, template: templates[environment] }
      return loadServer(database.in(environment), secrets, place)
    },
    listKnown: (environment, subdomains) =>
      listUsedSubdomains(database.in(environment), subdomains),
  })
  const forwarder = new ControlPlaneForwarder(
    config.controlPlaneUrl,
    config.requestTimeoutMs,
    config.trustedProxies,
    logger,
  )
  await host.own({ close: async () => forwarder.close() })
  const controlPlane = await host.own(
    new ServiceCalls({
      origin: config.controlPlaneUrl,
      secret: parts.serviceSecret,
      connectionsMax: discoveriesMax,
    }),
  )
  const toolWatch = toolWatchOf(config, parts, controlPlane)
  const readServer: McpParts['readServer'] = ({ environment, subdomain }) =>
    servers.get(environment, subdomain)
  const endpoint = endpointOf(config, parts, gate.gate, registry, caching, {
    toolWatch,
    readServer,
  })
  const route = createRouter(templates)
  const server = new ProxyServer({ endpoint, route, servers, forwarder, tracing, logger })
  // A failed PostgreSQL only degrades health, because cached configuration is served while PostgreSQL is unavailable.
  await host.serveHealth(registry, [
    { name: 'postgres', check: () => database.ping(), onlyDegrades: true },
    ...gate.health,
  ])
  await host.start({
    start: () => server.listen(config.host, config.port),
    stop: () => server.close(config.stopMs),
  })
  return { port: server.port }
}

type RunningGate = {
  readonly gate: Gate
  readonly health: readonly HealthCheck[]
  readonly stop: () => Promise<void>
}

async function gateOf(
  config: McpProxyConfig,
  parts: Parts,
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
  { clock, logger }: Parts,
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
  parts: Parts,
  gate: Gate,
  registry: Registry,
  caching: FreshCacheOptions,
  watching: Pick<McpParts, 'toolWatch' | 'readServer'>,
): McpEndpoint {
  const { clock, logger, database, outbound, streamOutbound, serviceSecret } = parts
  const origin = new OriginClient(outbound, streamOutbound, config)
  const streams = new OpenStreams({
    perCustomerMax: config.streamsPerCustomerMax,
    perProviderMax: config.streamsPerProviderMax,
    totalMax: config.streamsMax,
  })
  const requestLimits = {
    perCustomerMax: config.requestsPerCustomerMax,
    perProviderMax: config.requestsPerProviderMax,
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
