import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { host } from '@tollgate/deploy/standalone/ports'
import { StartRefusedError } from '@tollgate/deploy/standalone/start-refused'
import { writeFileDurably } from '@tollgate/deploy/standalone/write-file'
import { engineOf, type Engine, type EngineOptions, type RunningServer } from './engine.ts'
import { javaArtifacts } from './java-artifacts.ts'
import { asPropertiesFile, kafkaProperties } from './kafka-properties.ts'
import { brokersKnownTo } from './kafka-metadata.ts'
import type { BrokerPorts } from './port-plan.ts'
import { requireProgram } from './programs.ts'
import { startServer, type Command } from './server.ts'
import { waitUntil } from './wait-until.ts'

const run = promisify(execFile)
const logSettings = fileURLToPath(new URL('../../local/log4j2.properties', import.meta.url))
const joinTimeoutMs = 60_000

/** Options with which Java starts sooner: without the optimizing compiler, and with the collector that has no threads of its own. */
const quickStart = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC']

/** Starts 1 broker, or 3 brokers with a replication factor of 3. Waits until every broker knows all of them. */
export async function startKafka(
  options: EngineOptions,
  brokers: readonly BrokerPorts[],
): Promise<Engine> {
  await clusterId(options.root, brokers.length)
  const servers = await Promise.all(
    brokers.map((_, index) => startKafkaBroker(options, brokers, index)),
  )
  await waitUntilAllKnown(brokers)
  return engineOf(brokers.map(({ port }) => `${host}:${port}`).join(','), servers)
}

/**
 * Starts a single broker, for a test that killed it. It is ready when it has joined the cluster, for which a majority of the others
 * must be running.
 */
export async function startKafkaBroker(
  options: EngineOptions,
  brokers: readonly BrokerPorts[],
  index: number,
): Promise<RunningServer> {
  const { port } = brokers[index]!
  return await startServer(
    {
      engine: 'kafka',
      name: `kafka-${index + 1}`,
      port,
      portVariable: 'TOLLGATE_ENGINES_KAFKA_PORT',
      stopSignal: 'SIGTERM',
      isReady: async () => (await brokersKnownTo(port)).includes(index + 1),
      prepare: (folder) => prepareBroker(options, brokers, index, folder),
    },
    options,
  )
}

/** Returns the number of brokers with which the folder was created. */
export function storedBrokerCount(root: string): number | undefined {
  return readCluster(root)?.brokers
}

async function prepareBroker(
  options: EngineOptions,
  brokers: readonly BrokerPorts[],
  index: number,
  folder: string,
): Promise<Command> {
  const java = await requireProgram('java', options.print)
  const { kafkaClassPath } = await javaArtifacts(options.print)
  const id = await clusterId(options.root, brokers.length)
  const data = join(folder, 'data')
  const properties = join(folder, 'server.properties')
  const isShortLived = options.isShortLived === true
  await writeFile(properties, asPropertiesFile(kafkaProperties(brokers, index, data, isShortLived)))
  const classPath = ['-cp', kafkaClassPath, `-Dlog4j2.configurationFile=${logSettings}`]
  if (!existsSync(join(data, 'meta.properties'))) {
    const format = ['kafka.tools.StorageTool', 'format', '--cluster-id', id, '--config', properties]
    await run(java, ['-Xmx256m', ...quickStart, ...classPath, ...format])
  }
  const own = isShortLived ? quickStart : []
  return { file: java, args: ['-Xmx512m', ...own, ...classPath, 'kafka.Kafka', properties] }
}

type Cluster = { readonly id: string; readonly brokers: number }

/** Returns the cluster id that all brokers share. It is created once per folder, before any broker is formatted. */
async function clusterId(root: string, brokers: number): Promise<string> {
  const known = readCluster(root)
  if (known && known.brokers !== brokers) {
    throw new StartRefusedError(
      `Kafka in ${root} was created with ${known.brokers} broker(s) and cannot become ${brokers}. ` +
        'Stop the engines and remove its folders kafka*, or choose another folder with TOLLGATE_ENGINES_DIR.',
    )
  }
  if (known) return known.id
  const cluster: Cluster = { id: newClusterId(), brokers }
  mkdirSync(join(root, 'kafka'), { recursive: true })
  await writeFileDurably(clusterFile(root), `${JSON.stringify(cluster)}\n`, 0o644)
  return cluster.id
}

/**
 * Returns a random UUID in Kafka's encoding. The first bit is 0, so that the text cannot begin with a dash, which Kafka's tool
 * would parse as an option.
 */
function newClusterId(): string {
  const bytes = randomBytes(16)
  bytes[0]! &= 0x7f
  return bytes.toString('base64url')
}

function readCluster(root: string): Cluster | undefined {
  if (!existsSync(clusterFile(root))) return undefined
  return JSON.parse(readFileSync(clusterFile(root), 'utf8')) as Cluster
}

function clusterFile(root: string): string {
  return join(root, 'kafka', 'cluster.json')
}

async function waitUntilAllKnown(brokers: readonly BrokerPorts[]): Promise<void> {
  const allKnown = async (): Promise<boolean> => {
    const known = await Promise.all(brokers.map(({ port }) => brokersKnownTo(port)))
    return known.every((each) => each.length === brokers.length)
  }
  if (await waitUntil(allKnown, joinTimeoutMs)) return
  throw new StartRefusedError(
    `The Kafka brokers have not all found each other after ${joinTimeoutMs / 1000} s. Logs: kafka-*.log`,
  )
}
