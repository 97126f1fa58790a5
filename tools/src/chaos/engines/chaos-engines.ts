import { join } from 'node:path'
import { startClickHouse } from '../../engines/clickhouse.ts'
import { startedServers } from '../../engines/engine-status.ts'
import { startKafkaBroker } from '../../engines/kafka.ts'
import type { PortPlan } from '../../engines/port-plan.ts'
import { startPostgres } from '../../engines/postgres.ts'
import { isRunning } from '../../engines/process-record.ts'
import { sendRedisCommand } from '../../engines/redis-command.ts'
import { startRedis } from '../../engines/redis.ts'
import { startServiceEngines } from '../../engines/start-engines.ts'
import { stopRecorded } from '../../engines/stop-recorded.ts'

export const brokerNames = ['kafka-1', 'kafka-2', 'kafka-3'] as const
export type EngineServerName = (typeof brokerNames)[number] | 'redis' | 'postgres' | 'clickhouse'

/** The engines of one chaos run. They have their own ports and folder, and end with this process. */
export type ChaosEngines = {
  /** Environment with which services use the engines. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly ports: PortPlan
  /** Data folder of ClickHouse. */
  readonly clickHouseFolder: string
  pidOf(server: EngineServerName): number
  /** Asks the server to end, and waits until it has ended. */
  stop(server: EngineServerName): Promise<void>
  /** Starts a server that has ended on its existing data, as its supervisor would, and waits until it answers. */
  restart(server: EngineServerName): Promise<void>
}

/** Deletes everything in Redis. Throws if Redis refuses it or does not answer in time. */
export async function flushAll({ ports }: ChaosEngines, timeoutMs?: number): Promise<void> {
  const answer = await sendRedisCommand(ports.redis, 'FLUSHALL', timeoutMs)
  if (!answer.startsWith('+OK')) throw new Error(`Redis answered FLUSHALL with ${answer}`)
}

export async function startChaosEngines(
  root: string,
  print: (line: string) => void,
  brokers: number = brokerNames.length,
): Promise<ChaosEngines> {
  const options = { root, endsWithParent: true, isShortLived: true }
  const quiet = { ...options, print: () => undefined }
  const { environment, ports } = await startServiceEngines({ ...options, print }, brokers)
  return {
    environment,
    ports,
    clickHouseFolder: join(root, 'clickhouse', 'data'),
    pidOf(server) {
      const record = startedServers(root).find(({ name }) => name === server)
      if (!record || !isRunning(record)) throw new Error(`${server} does not run.`)
      return record.pid
    },
    stop: (server) => stopRecorded(join(root, server)),
    async restart(server) {
      switch (server) {
        case 'redis':
          return void (await startRedis(quiet, ports.redis))
        case 'postgres':
          return void (await startPostgres(quiet, ports.postgres))
        case 'clickhouse':
          return void (await startClickHouse(quiet, ports.clickhouse))
        default:
          return void (await startKafkaBroker(quiet, ports.kafka, brokerNames.indexOf(server)))
      }
    },
  }
}
