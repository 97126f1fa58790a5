import { mkdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { lockFolder } from '@tollgate/deploy/standalone/folder-lock'
import { formatShellFile } from '@tollgate/deploy/standalone/shell-file'
import { StartRefusedError } from '@tollgate/deploy/standalone/start-refused'
import { writeFileDurably } from '@tollgate/deploy/standalone/write-file'
import { formatTable } from '@tollgate/platform/terminal/table'
import { readerPasswordIn } from './clickhouse.ts'
import type { EngineName } from './engine-names.ts'
import { readEngineStatus, startedServers, type ServerStatus } from './engine-status.ts'
import { storedBrokerCount } from './kafka.ts'
import type { PortPlan } from './port-plan.ts'
import { isRunning } from './process-record.ts'
import { hasRedisCluster } from './redis-cluster.ts'
import { readOrCreatePassword } from '@tollgate/deploy/standalone/password-file'
import { servicesEnvironment } from './services-environment.ts'
import { startEngines } from './start-engines.ts'
import { stopRecorded } from './stop-recorded.ts'

export type CommandContext = {
  readonly root: string
  readonly print: (line: string) => void
}

export type UpOptions = {
  /** Number of Kafka brokers, 1 or 3. The default is the number with which the folder was created, or 1. */
  readonly brokers?: number
  /** Whether to start a Redis Cluster instead of a single Redis. Later calls without this option keep the cluster. */
  readonly redisCluster?: boolean
}

/** Starts the engines that are not running. Returns false if an engine could not start, after printing the reasons. */
export async function up(
  place: CommandContext,
  ports: PortPlan,
  options: UpOptions,
): Promise<boolean> {
  const { root, print } = place
  return await withLock(root, async () => {
    const brokers = options.brokers ?? storedBrokerCount(root) ?? 1
    const isCluster = options.redisCluster ?? hasRedisCluster(root)
    const names: EngineName[] = [
      'kafka',
      'schema-registry',
      isCluster ? 'redis-cluster' : 'redis',
      'postgres',
      'clickhouse',
      'nats',
    ]
    const { running, refused } = await startEngines(names, place, {
      ...ports,
      kafka: ports.kafka.slice(0, brokers),
    })
    const addresses = new Map([...running].map(([name, { address }]) => [name, address]))
    const environmentFile = join(root, 'engines.env')
    const environment = servicesEnvironment(
      addresses,
      await readOrCreatePassword(join(root, 'clickhouse')),
      await readerPasswordIn(root),
    )
    await writeFileDurably(environmentFile, formatShellFile(environment), 0o600)
    await status(place)
    for (const [name, { message }] of refused) print(`\n${name} does not run. ${message}`)
    print(`\nSettings for Tollgate's services: ${displayPath(environmentFile)}`)
    return refused.size === 0
  })
}

/** Prints a line for each server. Returns false if a server is not healthy. */
export async function status({ root, print }: CommandContext): Promise<boolean> {
  const rows = await readEngineStatus(root)
  print(`\n${formatTable(['engine', 'state', 'process', 'address', 'log'], rows.map(cells))}`)
  return rows.every(({ state }) => state === 'healthy')
}

/** Stops the servers that `up` started, by process id. Their data is kept. */
export async function down({ root, print }: CommandContext): Promise<void> {
  await withLock(root, async () => {
    const running = startedServers(root).filter(isRunning)
    if (running.length > 0) print(`Stopping ${running.map(({ name }) => name).join(', ')} ...`)
    await Promise.all(startedServers(root).map(({ name }) => stopRecorded(join(root, name))))
    print(`No engine of ${displayPath(root)} runs. Their data is kept.`)
  })
}

function cells({ name, state, process, address = '' }: ServerStatus): string[] {
  return [
    name,
    state,
    String(process?.pid ?? ''),
    address,
    process ? displayPath(process.logPath) : '',
  ]
}

/**
 * Runs `act` while the folder is locked. Without the lock, 2 commands on the same folder would each start a server and record only
 * one of them.
 */
async function withLock<Result>(root: string, act: () => Promise<Result>): Promise<Result> {
  await mkdir(root, { recursive: true })
  const lock = await lockFolder(
    root,
    (owner) => new StartRefusedError(`Another command (process ${owner}) is using ${root}.`),
  )
  try {
    return await act()
  } finally {
    await lock.release()
  }
}

function displayPath(path: string): string {
  const inside = relative(process.cwd(), path)
  return inside === '' || inside.startsWith('..') ? path : inside
}
