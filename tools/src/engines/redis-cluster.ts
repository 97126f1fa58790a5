import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { host } from '@tollgate/deploy/standalone/ports'
import { StartRefusedError } from '@tollgate/deploy/standalone/start-refused'
import { engineOf, type Engine, type EngineOptions, type RunningServer } from './engine.ts'
import type { RedisNodePorts } from './port-plan.ts'
import { requireProgram } from './programs.ts'
import { sendRedisCommand } from './redis-command.ts'
import { answersPing, redisArguments, settingsAsArguments } from './redis.ts'
import { startServer } from './server.ts'
import { stopRecorded } from './stop-recorded.ts'
import { waitUntil } from './wait-until.ts'

const run = promisify(execFile)
const joinTimeoutMs = 60_000

/** Starts masters without replicas that share the slots. Waits until all of them report that the cluster is complete. */
export async function startRedisCluster(
  options: EngineOptions,
  nodes: readonly RedisNodePorts[],
): Promise<Engine> {
  const formedFile = join(clusterFolder(options.root), 'formed')
  const isFormed = existsSync(formedFile)
  if (!isFormed) await deleteIncompleteCluster(options.root, nodes.length)
  const servers = await Promise.all(
    nodes.map((_, index) => startRedisClusterNode(options, nodes, index)),
  )
  const addresses = nodes.map(({ port }) => `${host}:${port}`)
  if (!isFormed) {
    const client = await requireProgram('redis-cli', options.print)
    await run(client, ['--cluster', 'create', ...addresses, '--cluster-yes'])
    // The file is written last. Without it, the next start creates the cluster again, which loses nothing because no client can
    // have used it.
    await writeFile(formedFile, '')
  }
  await waitUntilComplete(nodes)
  return engineOf(addresses.join(','), servers)
}

/** Starts a single node, for a test that killed it. It finds the other nodes by its stored cluster state. */
async function startRedisClusterNode(
  options: EngineOptions,
  nodes: readonly RedisNodePorts[],
  index: number,
): Promise<RunningServer> {
  const { port, busPort } = nodes[index]!
  return await startServer(
    {
      engine: 'redis-cluster',
      name: nodeName(index),
      port,
      portVariable: 'TOLLGATE_ENGINES_REDIS_CLUSTER_PORT',
      stopSignal: 'SIGTERM',
      isReady: () => answersPing(port),
      prepare: async (folder) => ({
        file: await requireProgram('redis-server', options.print),
        args: [
          ...redisArguments(port, folder),
          ...settingsAsArguments({
            'cluster-enabled': 'yes',
            'cluster-port': String(busPort),
            // Milliseconds after which the other nodes report a silent node as failed.
            'cluster-node-timeout': '5000',
          }),
        ],
      }),
    },
    options,
  )
}

export function hasRedisCluster(root: string): boolean {
  return existsSync(clusterFolder(root))
}

/** Returns whether the cluster is complete from the view of this node. */
export async function isClusterComplete(port: number): Promise<boolean> {
  return (await sendRedisCommand(port, 'CLUSTER INFO')).includes('cluster_state:ok')
}

/** Deletes the nodes of an interrupted creation. They already own some slots, and Redis refuses to create a cluster from them. */
async function deleteIncompleteCluster(root: string, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const folder = join(root, nodeName(index))
    await stopRecorded(folder)
    await rm(folder, { recursive: true, force: true })
  }
  await mkdir(clusterFolder(root), { recursive: true })
}

async function waitUntilComplete(nodes: readonly RedisNodePorts[]): Promise<void> {
  const areAllComplete = async (): Promise<boolean> =>
    (await Promise.all(nodes.map(({ port }) => isClusterComplete(port)))).every(Boolean)
  if (await waitUntil(areAllComplete, joinTimeoutMs)) return
  throw new StartRefusedError(
    `The Redis Cluster is not complete after ${joinTimeoutMs / 1000} s. Logs: redis-cluster-*.log`,
  )
}

function nodeName(index: number): string {
  return `redis-cluster-${index + 1}`
}

function clusterFolder(root: string): string {
  return join(root, 'redis-cluster')
}
