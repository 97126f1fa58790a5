import type { SecureContextOptions } from 'node:tls'
import { Cluster, Redis, type RedisOptions } from 'ioredis'

export type RedisServers =
  | {
      /** `redis://` or, with TLS, `rediss://`, with user, password and database number where they are needed. */
      readonly url: string
    }
  | {
      /**
       * Some nodes of a Redis Cluster, the others are found through them: `host:port`, or a URL as above. What the
       * first one says of user, password and TLS holds for all.
       */
      readonly clusterNodes: readonly string[]
    }

/** For servers whose URL asks for TLS: who signed their certificate, and our own one, where it is asked for. */
export type RedisTls = Pick<SecureContextOptions, 'ca' | 'cert' | 'key'>

export type RedisClient = Redis | Cluster

const reconnectAfterMsMax = 1_000
const retryDelayMs = 100

/**
 * A client that fails calls instead of keeping them: it holds back none while there is no connection, sends none a
 * second time after a connection broke, and gives a connection up on which nothing came back for `callTimeoutMs`.
 * A cluster's client does send again, for as long, what a node refused because it is not, or no longer, the master.
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
      // A certificate is made out to a name, so names are left to the connection.
      dnsLookup: (address, callback) => callback(null, address),
      redisOptions: options,
    },
  )
}

/** A connection for a subscription; the caller makes another one when it ends. Undefined while no node is known. */
export function createSubscriber(client: RedisClient): Redis | undefined {
  const options = { lazyConnect: true, enableOfflineQueue: true, retryStrategy: () => null }
  if (client instanceof Redis) return client.duplicate(options)
  // Cluster nodes pass on what is published to any of them.
  const nodes = client.nodes('all')
  return nodes[Math.floor(Math.random() * nodes.length)]?.duplicate(options)
}

/** A connection to each server that keeps keys of ours, as far as the client has heard. */
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
