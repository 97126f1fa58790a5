import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SeededRandom } from '../../client/seeded-random.ts'
import { startInstance, type InstanceOptions } from '../../instance/instance.ts'
import { killProcess } from '../../instance/process-tree.ts'
import { dataFolderAt } from '@tollgate/deploy/standalone/data-folder'
import { servicePrograms } from '@tollgate/deploy/standalone/service-programs'
import { runningProcesses } from '@tollgate/deploy/standalone/running-processes'
import { nodePart } from '@tollgate/deploy/standalone/node-part'
import { findFreePort, host } from '@tollgate/deploy/standalone/ports'
import type { RunFile } from '@tollgate/deploy/standalone/run-file'
import { supervise, type SupervisedPart } from '@tollgate/platform/processes/supervise'
import { startUnderKills, type StartKills } from '../start-kills.ts'

const replicatedServices = ['ingest', 'aggregator-counters', 'aggregator-sink'] as const
type ReplicatedService = (typeof replicatedServices)[number]
export type ServiceName = ReplicatedService | 'control-plane'

/**
 * An installation as `npm start -- --engines` creates it, with a second process of each service that is replicated in production,
 * because work can only move to another process if there is one.
 */
export type ChaosServices = {
  /** Public URLs of the 2 ingest processes. */
  readonly baseUrls: readonly string[]
  readonly sandboxKey: string
  /** Environment with which the services were started. */
  readonly environment: RunFile['environment']
  pidsOf(service: ServiceName): Promise<number[]>
  /** Waits until all processes of the service are ready and none of them has the given id. */
  waitUntilReplaced(service: ServiceName, pid: number): Promise<void>
  /** Kills the installation and starts it again under kills. The second processes are started again too. */
  restartUnderKills(random: SeededRandom, kills: StartKills): Promise<void>
  /** Stops all processes in order, as an operator would. */
  stop(): Promise<void>
  kill(): Promise<void>
}

const pollMs = 50
const replacedWithinMs = 120_000

export async function startChaosServices(instanceOptions: InstanceOptions): Promise<ChaosServices> {
  const ports = new Set<number>()
  // A fixed port stays the same after a restart.
  const options = { ...instanceOptions, port: instanceOptions.port || (await findFreePort(ports)) }
  ports.add(options.port)
  let instance = await startInstance(options)
  let { environment } = await instance.runFile()
  const replicaPids = new Map<ReplicatedService, number>()
  const replicaPort = await findFreePort(ports)
  const replicas: SupervisedPart[] = []
  for (const service of replicatedServices) {
    const own = {
      ...ownSettings[service],
      ...(service === 'ingest' && { TOLLGATE_PORT: String(replicaPort) }),
      TOLLGATE_ADMIN_PORT: String(await findFreePort(ports)),
    }
    const part = nodePart({
      name: service,
      entry: service === 'ingest' ? servicePrograms.ingest : servicePrograms.aggregator,
      logPath: join(dataFolderAt(options.dataDir).logs, `second-${service}.log`),
      environment: () => ({ ...options.environment, ...environment, ...own }),
    })
    replicas.push(
      supervise(
        part,
        () => undefined,
        async (_, pid) => void (pid !== undefined && replicaPids.set(service, pid)),
      ),
    )
  }
  const kill = async (): Promise<void> => {
    // Stop the supervision first, so that the killed processes are not started again. Kill them directly, because a suspended
    // process does not react to a request to end.
    const stopping = replicas.map((part) => part.stop())
    for (const pid of replicaPids.values()) killProcess(pid)
    await Promise.all([instance.kill(), ...stopping])
  }
  await Promise.all(replicas.map((part) => part.start())).catch(async (error: unknown) => {
    await kill()
    throw error
  })
  const pidsOf = async (service: ServiceName): Promise<number[]> => {
    const { processes } = await instance.runFile()
    const first = processes[service]
    const second = service === 'control-plane' ? undefined : replicaPids.get(service)
    return [first, second].filter((pid) => pid !== undefined)
  }

  return {
    baseUrls: [instance.credentials.baseUrl, `http://${host}:${replicaPort}`],
    sandboxKey: instance.credentials.sandboxKey,
    environment,
    pidsOf,
    async restartUnderKills(random, kills) {
      await instance.kill()
      instance = await startUnderKills(options, random, kills)
      environment = (await instance.runFile()).environment
      for (const pid of replicaPids.values()) killProcess(pid)
    },
    waitUntilReplaced: (service, pid) => waitUntilReplaced(() => pidsOf(service), service, pid),
    async stop() {
      await Promise.all(replicas.map((part) => part.stop()))
      const code = await instance.stop()
      if (code !== 0) throw new Error(`The installation stopped with exit code ${code}.`)
    },
    kill,
  }
}

async function waitUntilReplaced(
  readPids: () => Promise<number[]>,
  service: ServiceName,
  pid: number,
): Promise<void> {
  const deadline = Date.now() + replacedWithinMs
  for (;;) {
    const pids = await readPids()
    const living = await runningProcesses(pids)
    if (!pids.includes(pid) && living.length === pids.length) return
    if (Date.now() > deadline) throw new Error(`${service} was not started again.`)
    await sleep(pollMs)
  }
}

const ownSettings: Record<ReplicatedService, Readonly<Record<string, string>>> = {
  ingest: {},
  'aggregator-counters': { TOLLGATE_PROJECTION: 'counters' },
  'aggregator-sink': { TOLLGATE_PROJECTION: 'sink' },
}
