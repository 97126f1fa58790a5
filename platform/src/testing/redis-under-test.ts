import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import { describe } from 'vitest'
import { createClient, type RedisServers } from '../hot-state/redis/connect.ts'

const url = process.env['TOLLGATE_TEST_REDIS_URL']
const clusterNodes = process.env['TOLLGATE_TEST_REDIS_CLUSTER']

/** Runs `suite` for each kind of Redis. A kind whose variable is not set is skipped by name. */
export function describeOnRedis(suite: (kind: string, servers: RedisServers) => void): void {
  describe.skipIf(url === undefined)('TOLLGATE_TEST_REDIS_URL', () => {
    suite('redis', { url: url ?? '' })
  })
  describe.skipIf(clusterNodes === undefined)('TOLLGATE_TEST_REDIS_CLUSTER', () => {
    suite('redis cluster', { clusterNodes: (clusterNodes ?? '').split(',') })
  })
}

/** Returns a unique prefix, because suites share the servers. */
export function newKeyPrefix(): string {
  return `test-${randomBytes(6).toString('hex')}`
}

/** Deletes every key whose name begins with the prefix, after a brace or not. */
export async function deleteKeysOf(servers: RedisServers, keyPrefix: string): Promise<void> {
  const client = createClient(servers, 10_000)
  client.on('error', () => undefined)
  await client.connect()
  for (const node of client instanceof Redis ? [client] : client.nodes('master')) {
    for (const match of [`${keyPrefix}:*`, `{${keyPrefix}:*`]) {
      for await (const keys of node.scanBufferStream({ match, count: 1_000 })) {
        for (const key of keys as Buffer[]) await node.unlink(key)
      }
    }
  }
  client.disconnect()
}
