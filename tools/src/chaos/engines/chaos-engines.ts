import { join } from 'node:path'
import { startClickHouse } from '../../engines/clickhouse.ts'
import type { EngineName } from '../../engines/engine-names.ts'
import type { EngineOptions } from '../../engines/engine.ts'
import { startedServers } from '../../engines/engine-status.ts'
import { startKafkaBroker } from '../../engines/kafka.ts'
import { planFreePorts, type PortPlan } from '../../engines/port-plan.ts'
import { startPostgres } from '../../engines/postgres.ts'
import { isRunning } from '../../engines/process-record.ts'
import { startRedis } from '../../engines/redis.ts'
import { readOrCreatePassword } from '@tollgate/deploy/standalone/password-file'
import { servicesEnvironment } from '../../engines/services-environment.ts'
import { startEngines } from '../../engines/start-engines.ts'
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
  revive(server: EngineServerName): Promise<void>
}

const names: readonly EngineName[] = ['kafka', 'schema-registry', 'redis', 'postgres', 'clickhouse']

export async function startChaosEngines(
  root: string,
  say: (line: string) => void,
  brokers: number = brokerNames.length,
): Promise<ChaosEngines> {
  const all = await planFreePorts()
  const ports = { ...all, kafka: all.kafka.slice(0, brokers) }
  const { running, refused } = await startEngines(names, optionsWith(say), ports)
  const [refusal] = refused.values()
  if (refusal) throw refusal
  const addresses = new Map([...running].map(([name, { address }]) => [name, address]))
  const quiet = optionsWith(() => undefined)

  function optionsWith(tell: (line: string) => void): EngineOptions {
    return { root, say: tell, endsWithParent: true, isShortLived: true }
  }
  return {
    environment: servicesEnvironment(
      addresses,
      await readOrCreatePassword(join(root, 'clickhouse')),
    ),
    ports,
    clickHouseFolder: join(root, 'clickhouse', 'data'),
    pidOf(server) {
      const record = startedServers(root).find(({ name }) => name === server)
      if (!record || !isRunning(record)) throw new Error(`${server} does not run.`)
      return record.pid
    },
    stop: (server) => stopRecorded(join(root, server)),
    async revive(server) {
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
