import { join } from 'node:path'
import { readOrCreatePassword } from '@tollgate/deploy/standalone/password-file'
import { startClickHouse } from './clickhouse.ts'
import type { EngineName } from './engine-names.ts'
import type { Engine, EngineOptions } from './engine.ts'
import { startKafka } from './kafka.ts'
import { startNats } from './nats.ts'
import { planFreePorts, type PortPlan } from './port-plan.ts'
import { startPostgres } from './postgres.ts'
import { startRedisCluster } from './redis-cluster.ts'
import { startRedis } from './redis.ts'
import { startSchemaRegistry } from './schema-registry.ts'
import { servicesEnvironment } from './services-environment.ts'

/** Start functions by engine. `ports.kafka` determines the number of brokers. */
const startFunctions: Record<
  EngineName,
  (options: EngineOptions, ports: PortPlan) => Promise<Engine>
> = {
  kafka: (options, ports) => startKafka(options, ports.kafka),
  'schema-registry': (options, ports) => startSchemaRegistry(options, ports.schemaRegistry),
  redis: (options, ports) => startRedis(options, ports.redis),
  'redis-cluster': (options, ports) => startRedisCluster(options, ports.redisCluster),
  postgres: (options, ports) => startPostgres(options, ports.postgres),
  clickhouse: (options, ports) => startClickHouse(options, ports.clickhouse),
  nats: (options, ports) => startNats(options, ports.nats),
}

/** The running engines, and the errors of those that could not start. */
export type StartResult<Running> = {
  readonly running: ReadonlyMap<EngineName, Running>
  readonly refused: ReadonlyMap<EngineName, Error>
}

export function startEngines(
  names: readonly EngineName[],
  options: EngineOptions,
  ports: PortPlan,
): Promise<StartResult<Engine>> {
  return startEach(names, (name) => startFunctions[name](options, ports))
}

const serviceEngines = ['kafka', 'schema-registry', 'redis', 'postgres', 'clickhouse'] as const

export type ServiceEngines = {
  readonly running: ReadonlyMap<EngineName, Engine>
  readonly ports: PortPlan
  /** Environment with which services use the engines. */
  readonly environment: Readonly<Record<string, string | undefined>>
  stop(): Promise<void>
}

/** Starts the engines that the services need, on free ports. If one of them cannot start, stops the others and throws. */
export async function startServiceEngines(
  options: EngineOptions,
  brokers: number,
): Promise<ServiceEngines> {
  const all = await planFreePorts()
  const ports = { ...all, kafka: all.kafka.slice(0, brokers) }
  const { running, refused } = await startEngines(serviceEngines, options, ports)
  const stop = async (): Promise<void> => {
    await Promise.all([...running.values()].map((engine) => engine.stop()))
  }
  const [refusal] = refused.values()
  if (refusal) {
    await stop()
    throw refusal
  }
  const addresses = new Map([...running].map(([name, { address }]) => [name, address]))
  const password = await readOrCreatePassword(join(options.root, 'clickhouse'))
  return { running, ports, environment: servicesEnvironment(addresses, password), stop }
}

/** Starts all engines concurrently. The failure of one does not affect the others. */
export async function startEach<Running>(
  names: readonly EngineName[],
  start: (name: EngineName) => Promise<Running>,
): Promise<StartResult<Running>> {
  const running = new Map<EngineName, Running>()
  const refused = new Map<EngineName, Error>()
  const startOne = async (name: EngineName): Promise<void> => {
    try {
      running.set(name, await start(name))
    } catch (error) {
      refused.set(name, error instanceof Error ? error : new Error(String(error)))
    }
  }
  await Promise.all(names.map(startOne))
  return { running, refused }
}
