import { Cluster, type Redis } from 'ioredis'
import { mastersOf, type RedisClient } from './connect.ts'

/**
 * The run ids of all masters. A server draws its run id when it starts, so this changes when one was started again,
 * with what its files had kept, when a replica took over, with what it had been told, and when a new, empty server
 * stands at the old address. Needs the INFO command.
 */
export async function readIncarnation(client: RedisClient): Promise<string> {
  const runIds = await Promise.all(
    mastersOf(client).map(async (server) => readRunId(client, server)),
  )
  return runIds.sort().join(' ')
}

/** Rejects when the server is no master any more. */
export async function readRunId(client: RedisClient, server: Redis): Promise<string> {
  const [ofServer, ofReplication] = await Promise.all([
    server.info('server'),
    server.info('replication'),
  ])
  const runId = /^run_id:(\S+)/m.exec(ofServer)?.[1]
  if (runId === undefined) throw new Error('Redis does not tell its run_id')
  if (!/^role:master/m.test(ofReplication)) {
    // It may have been one a moment ago, and the client has not heard of the other yet.
    if (client instanceof Cluster) client.refreshSlotsCache()
    throw new Error('a server that was a master is none any more')
  }
  return runId
}
