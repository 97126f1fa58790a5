import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import { describe } from 'vitest'
import { createClient, type RedisServers } from '../hot-state/redis/connect.ts'

const url = process.env['TOLLGATE_TEST_REDIS_URL']
const clusterNodes = process.env['TOLLGATE_TEST_REDIS_CLUSTER']

/** Calls `suite` once per kind of Redis; a kind whose variable is not set is left out by name. */
export function describeOnRedis(suite: (kind: string, servers: RedisServers) => void): void {
  describe.skipIf(url === undefined)('TOLLGATE_TEST_REDIS_URL', () => {
    suite('redis', { url: url ?? '' })
  })
  describe.skipIf(clusterNodes === undefined)('TOLLGATE_TEST_REDIS_CLUSTER', () => {
    suite('redis cluster', { clusterNodes: (clusterNodes ?? '').split(',') })
  })
}

/** Suites share the servers; this keeps them apart. */
export function newKeyPrefix(): string {
  return `test-${randomBytes(6).toString('hex')}`
}

/** Deletes every key whose name begins, behind a brace or not, with the prefix. */
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
