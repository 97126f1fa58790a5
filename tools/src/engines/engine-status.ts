import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { host } from '@tollgate/deploy/standalone/ports'
import { clickHouseAnswers, clickHouseUrl } from './clickhouse.ts'
import { engineNames, type EngineName } from './engine-names.ts'
import { brokersKnownTo } from './kafka-metadata.ts'
import { natsAnswers, natsUrl } from './nats.ts'
import { postgresAnswers } from './postgres.ts'
import { isRunning, readProcessRecord, type ProcessRecord } from './process-record.ts'
import { hasRedisCluster, isClusterComplete } from './redis-cluster.ts'
import { answersPing } from './redis.ts'
import { registryAnswers, schemaRegistryUrl } from './schema-registry.ts'

export type ServerStatus = {
  readonly name: string
  readonly state: 'healthy' | 'does not answer' | 'not running'
  readonly process?: ProcessRecord
  /** Address without secrets. */
  readonly address?: string
}

type StatusCheck = {
  readonly address: (port: number) => string
  /** Checks the server by a request to it. */
  readonly isHealthy: (record: ProcessRecord, root: string) => Promise<boolean>
}

const statusChecks: Record<EngineName, StatusCheck> = {
  kafka: {
    address: (port) => `${host}:${port}`,
    isHealthy: async ({ name, port }) =>
      (await brokersKnownTo(port)).includes(Number(name.slice('kafka-'.length))),
  },
  'schema-registry': {
    address: schemaRegistryUrl,
    isHealthy: ({ port }) => registryAnswers(port),
  },
  redis: {
    address: (port) => `redis://${host}:${port}`,
    isHealthy: ({ port }) => answersPing(port),
  },
  'redis-cluster': {
    address: (port) => `${host}:${port}`,
    isHealthy: ({ port }) => isClusterComplete(port),
  },
  postgres: {
    address: (port) => `postgres://${host}:${port}`,
    isHealthy: ({ port }, root) => postgresAnswers(root, port),
  },
  clickhouse: {
    address: clickHouseUrl,
    isHealthy: ({ port }, root) => clickHouseAnswers(root, port),
  },
  nats: {
    address: natsUrl,
    isHealthy: ({ port }) => natsAnswers(port),
  },
}

/** Returns every server that was started in the folder and not stopped, and a row for each engine without a server. */
export async function readEngineStatus(root: string): Promise<ServerStatus[]> {
  const records = startedServers(root)
  const rows = await Promise.all(
    engineNames.map(async (engine): Promise<ServerStatus[]> => {
      const own = records.filter((record) => record.engine === engine)
      if (own.length > 0) return await Promise.all(own.map((record) => statusOf(record, root)))
      // The services need either Redis or Redis Cluster, so only one of them is listed.
      if (engine === 'redis-cluster' || (engine === 'redis' && hasRedisCluster(root))) return []
      return [{ name: engine, state: 'not running' }]
    }),
  )
  return rows.flat()
}

async function statusOf(record: ProcessRecord, root: string): Promise<ServerStatus> {
  const { name, engine, port } = record
  if (!isRunning(record)) return { name, state: 'not running' }
  const { address, isHealthy } = statusChecks[engine]
  const state = (await isHealthy(record, root)) ? 'healthy' : 'does not answer'
  return { name, state, process: record, address: address(port) }
}

/** Returns the servers that are recorded in the folders of the root, running or not. */
export function startedServers(root: string): ProcessRecord[] {
  if (!existsSync(root)) return []
  return readdirSync(root)
    .sort()
    .map((name) => readProcessRecord(join(root, name)))
    .filter((record) => record !== undefined)
}
