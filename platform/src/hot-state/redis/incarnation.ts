import { Cluster, type Redis } from 'ioredis'
import { mastersOf, type RedisClient } from './connect.ts'

/**
 * Returns the run ids of all masters. A server creates its run id at start, so the text changes after a restart (with the data its
 * files had), a failover (with the data the replica had), and when a new server replaces an old one. Needs the INFO command.
 */
export async function readIncarnation(client: RedisClient): Promise<string> {
  const runIds = await Promise.all(
    mastersOf(client).map(async (server) => readRunId(client, server)),
  )
  return runIds.sort().join(' ')
}

/** Returns the run id of a server. Rejects if it is no longer a master. */
export async function readRunId(client: RedisClient, server: Redis): Promise<string> {
  const [ofServer, ofReplication] = await Promise.all([
    server.info('server'),
    server.info('replication'),
  ])
  const runId = /^run_id:(\S+)/m.exec(ofServer)?.[1]
  if (runId === undefined) throw new Error('Redis does not tell its run_id')
  if (!/^role:master/m.test(ofReplication)) {
    // It may have been a master until just now, and the client does not know the new one yet.
    if (client instanceof Cluster) client.refreshSlotsCache()
    throw new Error('a server that was a master is none any more')
  }
  return runId
}
