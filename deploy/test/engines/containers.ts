import {
  GenericContainer,
  getContainerRuntimeClient,
  Wait,
  type StartedTestContainer,
} from 'testcontainers'
import type { EngineName } from '../../../tools/src/engines/engine-names.ts'
import { kafkaProperties } from '../../../tools/src/engines/kafka-properties.ts'
import { planFreePorts, type PortPlan } from '../../../tools/src/engines/port-plan.ts'
import { redisArguments, settingsAsArguments } from '../../../tools/src/engines/redis.ts'
import { startEach, type StartResult } from '../../../tools/src/engines/start-engines.ts'

/** Images of deploy/compose.yaml. */
const images = {
  kafka: 'apache/kafka:4.4.0',
  registry: 'apicurio/apicurio-registry:3.0.9',
  redis: 'redis:7.4',
  postgres: 'postgres:18.4',
  nats: 'nats:2.12.7',
}

type ContainerEngine = { readonly address: string; stop(): Promise<void> }

type Place = {
  /** Host on which the container engine publishes ports. */
  readonly host: string
  /**
   * The ports inside and outside of a container are the same, because Kafka and Redis Cluster send their own addresses to clients.
   */
  readonly ports: PortPlan
}

/** Returns undefined if no container engine answers. */
export async function containerHost(): Promise<string | undefined> {
  try {
    return (await getContainerRuntimeClient()).info.containerRuntime.host
  } catch {
    return undefined
  }
}

/** Starts the engines of a test run, each in a container. They are removed with the run, even after a kill. */
export async function startContainers(
  names: readonly EngineName[],
  host: string,
): Promise<StartResult<ContainerEngine>> {
  const place = { host, ports: await planFreePorts() }
  return await startEach(names, (name) => starts[name](place))
}

const starts: Record<EngineName, (place: Place) => Promise<ContainerEngine>> = {
  kafka: startKafka,
  'schema-registry': startRegistry,
  redis: startRedis,
  'redis-cluster': startRedisCluster,
  postgres: startPostgres,
  clickhouse: () => Promise.reject(new Error('Tests use the engine in process.')),
  nats: startNats,
}

async function startKafka({ host, ports }: Place): Promise<ContainerEngine> {
  const { port, controllerPort } = ports.kafka[0]!
  const properties = {
    ...kafkaProperties([{ port, controllerPort }], 0, '/tmp/kafka'),
    listeners: `PLAINTEXT://0.0.0.0:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://${host}:${port}`,
  }
  const container = await withPorts(new GenericContainer(images.kafka), [port])
    .withEnvironment(asImageEnvironment(properties))
    .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/))
    .start()
  return engineOf(`${host}:${port}`, container)
}

/** Returns environment variables for the image, which reads `some.setting` from KAFKA_SOME_SETTING. */
function asImageEnvironment(properties: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(properties)
  return Object.fromEntries(
    entries.map(([name, value]) => [`KAFKA_${name.toUpperCase().replaceAll('.', '_')}`, value]),
  )
}

async function startRegistry({ host }: Place): Promise<ContainerEngine> {
  const path = '/apis/ccompat/v7'
  const container = await new GenericContainer(images.registry)
    .withExposedPorts(8080)
    .withWaitStrategy(Wait.forHttp(`${path}/subjects`, 8080).forStatusCode(200))
    .start()
  return engineOf(`http://${host}:${container.getMappedPort(8080)}${path}`, container)
}

/** Accepts connections from other addresses than loopback. The container engine publishes the port only on this machine. */
const reachable = settingsAsArguments({ bind: '0.0.0.0', 'protected-mode': 'no' })

async function startRedis({ host, ports: { redis } }: Place): Promise<ContainerEngine> {
  const container = await withPorts(new GenericContainer(images.redis), [redis])
    .withCommand(['redis-server', ...redisArguments(redis, '/data'), ...reachable])
    .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/))
    .start()
  return engineOf(`redis://${host}:${redis}`, container)
}

/** Starts all masters in one container, so that the addresses sent to clients are also valid between the masters. */
async function startRedisCluster({ ports }: Place): Promise<ContainerEngine> {
  const nodes = ports.redisCluster
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`)
  const starts = nodes.flatMap(({ port, busPort }) => {
    const cluster = {
      'cluster-enabled': 'yes',
      'cluster-port': String(busPort),
      'cluster-announce-ip': '127.0.0.1',
      daemonize: 'yes',
    }
    const settings = [
      ...redisArguments(port, `/data/${port}`),
      ...reachable,
      ...settingsAsArguments(cluster),
    ]
    const quoted = settings.map((setting) => `'${setting}'`).join(' ')
    return [`mkdir /data/${port}`, `redis-server ${quoted}`]
  })
  const create = `redis-cli --cluster create ${addresses.join(' ')} --cluster-yes`
  const script = [...starts, create, 'tail -f /dev/null'].join(' && ')
  const container = await withPorts(
    new GenericContainer(images.redis),
    nodes.map(({ port }) => port),
  )
    .withCommand(['sh', '-c', script])
    .withWaitStrategy(Wait.forLogMessage(/All 16384 slots covered/))
    .start()
  return engineOf(addresses.join(','), container)
}

async function startPostgres({ host }: Place): Promise<ContainerEngine> {
  const name = 'tollgate'
  const container = await new GenericContainer(images.postgres)
    .withExposedPorts(5432)
    .withEnvironment({ POSTGRES_USER: name, POSTGRES_PASSWORD: name, POSTGRES_DB: name })
    // The image starts the server twice: first to create the database, then permanently.
    .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
    .start()
  const port = container.getMappedPort(5432)
  return engineOf(`postgres://${name}:${name}@${host}:${port}/${name}`, container)
}

async function startNats({ host }: Place): Promise<ContainerEngine> {
  const container = await new GenericContainer(images.nats)
    .withExposedPorts(4222)
    .withCommand(['--jetstream', '--store_dir', '/data'])
    .withWaitStrategy(Wait.forLogMessage(/Server is ready/))
    .start()
  return engineOf(`nats://${host}:${container.getMappedPort(4222)}`, container)
}

function withPorts(container: GenericContainer, ports: readonly number[]): GenericContainer {
  return container.withExposedPorts(...ports.map((port) => ({ container: port, host: port })))
}

function engineOf(address: string, container: StartedTestContainer): ContainerEngine {
  return { address, stop: async () => void (await container.stop()) }
}
