import type { SecureContextOptions } from 'node:tls'
import { Cluster, Redis, type RedisOptions } from 'ioredis'

export type RedisServers =
  | {
      /** `redis://`, or `rediss://` with TLS, with user, password and database number if needed. */
      readonly url: string
    }
  | {
      /**
       * Nodes of a Redis Cluster as `host:port` or a URL as above; the other nodes are discovered. User, password and TLS of the
       * first node apply to all.
       */
      readonly clusterNodes: readonly string[]
    }

/** Certificates for servers with TLS: the certificate authority, and the client certificate if required. */
export type RedisTls = Pick<SecureContextOptions, 'ca' | 'cert' | 'key'>

export type RedisClient = Redis | Cluster

const reconnectAfterMsMax = 1_000
const retryDelayMs = 100

/**
 * Creates a client that fails calls instead of queueing them: it accepts none without a connection, does not repeat calls after a
 * connection broke, and drops a connection that was silent for `callTimeoutMs`. A cluster client does repeat a call, within that
 * time, if a node refuses it because it is not the master.
 */
export function createClient(
  servers: RedisServers,
  callTimeoutMs: number,
  tls: RedisTls = {},
): RedisClient {
  const urls = 'url' in servers ? [new URL(servers.url)] : servers.clusterNodes.map(nodeUrl)
  const options: RedisOptions = {
    ...accessOptions(urls[0], tls),
    connectTimeout: callTimeoutMs,
    socketTimeout: callTimeoutMs,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    keepAlive: 10_000,
  }
  if ('url' in servers) {
    return new Redis(servers.url, {
      ...options,
      lazyConnect: true,
      enableOfflineQueue: false,
      retryStrategy: reconnectAfterMs,
    })
  }
  return new Cluster(
    urls.map(({ hostname, port }) => ({ host: hostname, port: Number(port || 6379) })),
    {
      lazyConnect: true,
      enableOfflineQueue: false,
      clusterRetryStrategy: reconnectAfterMs,
      maxRedirections: Math.max(2, Math.floor(callTimeoutMs / retryDelayMs)),
      retryDelayOnFailover: retryDelayMs,
      retryDelayOnClusterDown: retryDelayMs,
      retryDelayOnTryAgain: retryDelayMs,
      slotsRefreshTimeout: callTimeoutMs,
      // A certificate contains a host name, so names are resolved only when connecting.
      dnsLookup: (address, callback) => callback(null, address),
      redisOptions: options,
    },
  )
}

export type ConnectionReports = {
  /** Called once when the connection is lost; `onConnectionBack` is called once when it is restored. */
  readonly onConnectionLost?: (error: Error) => void
  readonly onConnectionBack?: () => void
}

export function reportConnection(
  client: RedisClient,
  { onConnectionLost, onConnectionBack }: ConnectionReports,
): void {
  let isLost = false
  client.on('error', (error: Error) => {
    if (!isLost) onConnectionLost?.(error)
    isLost = true
  })
  client.on('ready', () => {
    if (isLost) onConnectionBack?.()
    isLost = false
  })
}

/** Creates a connection for a subscription. The caller creates a new one when it ends. Undefined if no node is known. */
export function createSubscriber(client: RedisClient): Redis | undefined {
  const options = { lazyConnect: true, enableOfflineQueue: true, retryStrategy: () => null }
  if (client instanceof Redis) return client.duplicate(options)
  // Cluster nodes forward messages that are published at any of them.
  const nodes = client.nodes('all')
  return nodes[Math.floor(Math.random() * nodes.length)]?.duplicate(options)
}

/** Returns a connection to each known master. */
export function mastersOf(client: RedisClient): readonly Redis[] {
  const masters = client instanceof Redis ? [client] : client.nodes('master')
  if (masters.length === 0) throw new Error('no node of the cluster is known')
  return masters
}

function reconnectAfterMs(attempt: number): number {
  return Math.min(attempt * 50, reconnectAfterMsMax)
}

function nodeUrl(node: string): URL {
  return new URL(node.includes('://') ? node : `redis://${node}`)
}

function accessOptions(url: URL | undefined, tls: RedisTls): RedisOptions {
  if (url === undefined) throw new RangeError('A cluster needs one node at least')
  const { username, password, protocol } = url
  return {
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' ? { tls } : {}),
  }
}
