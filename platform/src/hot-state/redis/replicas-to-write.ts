import type { Redis } from 'ioredis'
import { mastersOf, type RedisClient } from './connect.ts'

/** The replication settings of a server. */
type ReplicasToWrite = {
  readonly address: string
  readonly replicas: number
  /** Replicas that must be connected for a write to be accepted. */
  readonly needed: number
}

/** Reads the settings of each master. Needs the commands INFO and CONFIG GET. */
export async function readReplicasToWrite(client: RedisClient): Promise<ReplicasToWrite[]> {
  return await Promise.all(mastersOf(client).map(readOf))
}

async function readOf(server: Redis): Promise<ReplicasToWrite> {
  const [info, settings] = await Promise.all([
    server.info('replication'),
    server.config('GET', 'min-replicas-to-write'),
  ])
  const [, needed] = settings as [string, string] | []
  return {
    address: `${server.options.host}:${server.options.port}`,
    replicas: Number(/^connected_slaves:(\d+)/m.exec(info)?.[1] ?? 0),
    needed: Number(needed ?? 0),
  }
}

export function checkReplicasToWrite(servers: readonly ReplicasToWrite[], least: number): void {
  const lax = servers.find(({ replicas, needed }) => replicas > 0 && needed < least)
  if (lax === undefined) return
  throw new Error(
    `Redis at ${lax.address} takes writes that no replica has, and a failover takes them back. Set its min-replicas-to-write to ${least} or more (it is ${lax.needed}).`,
  )
}
