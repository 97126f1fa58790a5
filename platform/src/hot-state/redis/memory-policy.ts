import type { Redis } from 'ioredis'
import { mastersOf, type RedisClient } from './connect.ts'

/** Returns the eviction policy of each master. Needs the INFO command. */
export async function readMemoryPolicies(client: RedisClient): Promise<string[]> {
  return await Promise.all(mastersOf(client).map(readMemoryPolicy))
}

async function readMemoryPolicy(server: Redis): Promise<string> {
  // A server that is still loading its files answers INFO, but not PING.
  await server.ping()
  return /^maxmemory_policy:(\S+)/m.exec(await server.info('memory'))?.[1] ?? 'unknown'
}

/** Throws if Redis may evict keys without an expiry, such as ours. */
export function checkMemoryPolicies(policies: readonly string[]): void {
  const dropping = policies.find((policy) => policy.startsWith('allkeys-'))
  if (dropping === undefined) return
  throw new Error(`Redis would drop counters silently: its maxmemory-policy is ${dropping}`)
}
