import { findFreePort } from '@tollgate/deploy/standalone/ports'

export type BrokerPorts = { readonly port: number; readonly controllerPort: number }

/** Clients connect to `port`. The nodes of the cluster connect to each other on `busPort`. */
export type RedisNodePorts = { readonly port: number; readonly busPort: number }

export type PortPlan = {
  readonly kafka: readonly BrokerPorts[]
  readonly schemaRegistry: number
  readonly redis: number
  readonly redisCluster: readonly RedisNodePorts[]
  readonly postgres: number
  readonly clickhouse: number
  readonly nats: number
}

export type FirstPorts = {
  readonly kafkaPort: number
  readonly schemaRegistryPort: number
  readonly redisPort: number
  readonly redisClusterPort: number
  readonly postgresPort: number
  readonly clickhousePort: number
  readonly natsPort: number
}

export const brokersMax = 3
const redisMasters = 3
/** Offset from a server's port to the port for its peers. */
const peerOffset = 100

/** Returns the ports of all servers. The servers of one engine use consecutive ports, and their ports for peers are 100 higher. */
export function planPorts(first: FirstPorts): PortPlan {
  const countUp = (from: number, count: number): number[] =>
    Array.from({ length: count }, (_, index) => from + index)
  const plan: PortPlan = {
    kafka: countUp(first.kafkaPort, brokersMax).map((port) => ({
      port,
      controllerPort: port + peerOffset,
    })),
    schemaRegistry: first.schemaRegistryPort,
    redis: first.redisPort,
    redisCluster: countUp(first.redisClusterPort, redisMasters).map((port) => ({
      port,
      busPort: port + peerOffset,
    })),
    postgres: first.postgresPort,
    clickhouse: first.clickhousePort,
    nats: first.natsPort,
  }
  const seen = new Set<number>()
  for (const port of portsOf(plan)) {
    if (seen.has(port)) throw new Error(`Two engines would listen on port ${port}.`)
    seen.add(port)
  }
  return plan
}

/** Returns free ports, for engines that run next to others. */
export async function planFreePorts(): Promise<PortPlan> {
  const taken = new Set<number>()
  const free = (): Promise<number> => findFreePort(taken)
  const kafka: BrokerPorts[] = []
  for (let broker = 0; broker < brokersMax; broker++) {
    kafka.push({ port: await free(), controllerPort: await free() })
  }
  const redisCluster: RedisNodePorts[] = []
  for (let node = 0; node < redisMasters; node++) {
    redisCluster.push({ port: await free(), busPort: await free() })
  }
  return {
    kafka,
    redisCluster,
    schemaRegistry: await free(),
    redis: await free(),
    postgres: await free(),
    clickhouse: await free(),
    nats: await free(),
  }
}

export function portsOf(plan: PortPlan): number[] {
  return [
    ...plan.kafka.flatMap(({ port, controllerPort }) => [port, controllerPort]),
    ...plan.redisCluster.flatMap(({ port, busPort }) => [port, busPort]),
    plan.schemaRegistry,
    plan.redis,
    plan.postgres,
    plan.clickhouse,
    plan.nats,
  ]
}
