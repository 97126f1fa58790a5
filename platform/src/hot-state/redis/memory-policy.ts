import type { Redis } from 'ioredis'
import { mastersOf, type RedisClient } from './connect.ts'

/** What each server that keeps keys of ours does when its memory is full. Needs the INFO command. */
export async function readMemoryPolicies(client: RedisClient): Promise<string[]> {
  return await Promise.all(mastersOf(client).map(readMemoryPolicy))
}

async function readMemoryPolicy(server: Redis): Promise<string> {
  // A server that still loads its files answers INFO, but not this.
  await server.ping()
  return /^maxmemory_policy:(\S+)/m.exec(await server.info('memory'))?.[1] ?? 'unknown'
}

/** Throws when Redis may drop keys that do not expire, which ours never do. */
export function checkMemoryPolicies(policies: readonly string[]): void {
  const dropping = policies.find((policy) => policy.startsWith('allkeys-'))
  if (dropping === undefined) return
  throw new Error(`Redis would drop counters silently: its maxmemory-policy is ${dropping}`)
}
