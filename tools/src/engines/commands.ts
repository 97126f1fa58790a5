import { mkdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { lockFolder } from '@tollgate/deploy/standalone/folder-lock'
import { asShellFile } from '@tollgate/deploy/standalone/shell-file'
import { StartRefusedError } from '@tollgate/deploy/standalone/start-refused'
import { writeFileDurably } from '@tollgate/deploy/standalone/write-file'
import { formatTable } from '@tollgate/platform/terminal/table'
import { readerPasswordIn } from './clickhouse.ts'
import type { EngineName } from './engine-names.ts'
import { readEngineStatus, startedServers, type ServerStatus } from './engine-status.ts'
import { brokersIn } from './kafka.ts'
import type { PortPlan } from './port-plan.ts'
import { isRunning } from './process-record.ts'
import { hasRedisCluster } from './redis-cluster.ts'
import { passwordIn } from '@tollgate/deploy/standalone/secret'
import { servicesEnvironment } from './services-environment.ts'
import { startEngines } from './start-engines.ts'
import { stopRecorded } from './stop-recorded.ts'

export type Place = {
  readonly root: string
  readonly say: (line: string) => void
}

export type UpOptions = {
  /** One or three; by default what the folder was made with, else one. */
  readonly brokers?: number
  /** In place of the single Redis. Kept up by later calls without it. */
  readonly redisCluster?: boolean
}

/** Starts what does not run. False when an engine could not start; the reasons have been said. */
export async function up(place: Place, ports: PortPlan, options: UpOptions): Promise<boolean> {
  const { root, say } = place
  return await withLock(root, async () => {
    const brokers = options.brokers ?? brokersIn(root) ?? 1
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
      await passwordIn(join(root, 'clickhouse')),
      await readerPasswordIn(root),
    )
    await writeFileDurably(environmentFile, asShellFile(environment), 0o600)
    await status(place)
    for (const [name, { message }] of refused) say(`\n${name} does not run. ${message}`)
    say(`\nSettings for Tollgate's services: ${shown(environmentFile)}`)
    return refused.size === 0
  })
}

/** Prints a line for each server. False when one of them is not healthy. */
export async function status({ root, say }: Place): Promise<boolean> {
  const rows = await readEngineStatus(root)
  say(`\n${formatTable(['engine', 'state', 'process', 'address', 'log'], rows.map(cells))}`)
  return rows.every(({ state }) => state === 'healthy')
}

/** Ends what `up` started, by process number; the data stays. */
export async function down({ root, say }: Place): Promise<void> {
  await withLock(root, async () => {
    const running = startedServers(root).filter(isRunning)
    if (running.length > 0) say(`Stopping ${running.map(({ name }) => name).join(', ')} ...`)
    await Promise.all(startedServers(root).map(({ name }) => stopRecorded(join(root, name))))
    say(`No engine of ${shown(root)} runs. Their data is kept.`)
  })
}

function cells({ name, state, process, address = '' }: ServerStatus): string[] {
  return [name, state, String(process?.pid ?? ''), address, process ? shown(process.logPath) : '']
}

/** Two commands at once on one folder would each start a server and keep one record of the two. */
async function withLock<Result>(root: string, act: () => Promise<Result>): Promise<Result> {
  await mkdir(root, { recursive: true })
  const lock = await lockFolder(
    root,
    (owner) => new StartRefusedError(`Another command (process ${owner}) works on ${root}.`),
  )
  try {
    return await act()
  } finally {
    await lock.release()
  }
}

function shown(path: string): string {
  const inside = relative(process.cwd(), path)
  return inside === '' || inside.startsWith('..') ? path : inside
}
