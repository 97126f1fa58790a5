import { startClickHouse } from './clickhouse.ts'
import type { EngineName } from './engine-names.ts'
import type { Engine, EngineOptions } from './engine.ts'
import { startKafka } from './kafka.ts'
import type { PortPlan } from './port-plan.ts'
import { startPostgres } from './postgres.ts'
import { startRedisCluster } from './redis-cluster.ts'
import { startRedis } from './redis.ts'
import { startSchemaRegistry } from './schema-registry.ts'

/** `kafka` of the ports says how many brokers there are. */
const starts: Record<EngineName, (options: EngineOptions, ports: PortPlan) => Promise<Engine>> = {
  kafka: (options, ports) => startKafka(options, ports.kafka),
  'schema-registry': (options, ports) => startSchemaRegistry(options, ports.schemaRegistry),
  redis: (options, ports) => startRedis(options, ports.redis),
  'redis-cluster': (options, ports) => startRedisCluster(options, ports.redisCluster),
  postgres: (options, ports) => startPostgres(options, ports.postgres),
  clickhouse: (options, ports) => startClickHouse(options, ports.clickhouse),
}

export type StartedEngines = {
  readonly running: ReadonlyMap<EngineName, Engine>
  /** Why each of the others is not running. */
  readonly refused: ReadonlyMap<EngineName, Error>
}

/** All at once; one that cannot start keeps none of the others from it. */
export async function startEngines(
  names: readonly EngineName[],
  options: EngineOptions,
  ports: PortPlan,
): Promise<StartedEngines> {
  const running = new Map<EngineName, Engine>()
  const refused = new Map<EngineName, Error>()
  const start = async (name: EngineName): Promise<void> => {
    try {
      running.set(name, await starts[name](options, ports))
    } catch (error) {
      refused.set(name, error instanceof Error ? error : new Error(String(error)))
    }
  }
  await Promise.all(names.map(start))
  return { running, refused }
}
