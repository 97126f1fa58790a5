import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SeededRandom } from '../../client/seeded-random.ts'
import { startInstance, type InstanceOptions } from '../../instance/instance.ts'
import { killProcess } from '../../instance/process-tree.ts'
import { dataFolderAt } from '@tollgate/deploy/standalone/data-folder'
import { entries } from '@tollgate/deploy/standalone/entries'
import { livingProcesses } from '@tollgate/deploy/standalone/living-processes'
import { nodePart } from '@tollgate/deploy/standalone/node-part'
import { findFreePort, host } from '@tollgate/deploy/standalone/ports'
import type { RunFile } from '@tollgate/deploy/standalone/run-file'
import { supervise, type SupervisedPart } from '@tollgate/deploy/standalone/supervise'
import { startUnderKills, type StartKills } from '../start-kills.ts'

const doubledServices = ['ingest', 'aggregator-counters', 'aggregator-sink'] as const
type DoubledService = (typeof doubledServices)[number]
export type ServiceName = DoubledService | 'control-plane'

/**
 * An installation as `npm start -- --engines` makes it, and a second process of each service that has one in
 * production: work moves to another process only where there is another one.
 */
export type ChaosServices = {
  /** The public addresses. */
  readonly baseUrls: readonly string[]
  readonly sandboxKey: string
  /** What the services were started with. */
  readonly environment: RunFile['environment']
  pidsOf(service: ServiceName): Promise<number[]>
  /** Waits until as many processes of the service are ready as there should be, none of them this one. */
  untilReplaced(service: ServiceName, pid: number): Promise<void>
  /** Kills the installation and starts it again under kills. The second processes are started again as well. */
  restartUnderKills(random: SeededRandom, kills: StartKills): Promise<void>
  /** In order, as an operator would. */
  stop(): Promise<void>
  kill(): Promise<void>
}

const pollMs = 50
const replacedWithinMs = 120_000

export async function startChaosServices(given: InstanceOptions): Promise<ChaosServices> {
  const ports = new Set<number>()
  // The same after a restart.
  const options = { ...given, port: given.port || (await findFreePort(ports)) }
  ports.add(options.port)
  let instance = await startInstance(options)
  let { environment } = await instance.runFile()
  const secondPids = new Map<DoubledService, number>()
  const secondPort = await findFreePort(ports)
  const seconds: SupervisedPart[] = []
  for (const service of doubledServices) {
    const own = {
      ...ownSettings[service],
      ...(service === 'ingest' && { TOLLGATE_PORT: String(secondPort) }),
      TOLLGATE_ADMIN_PORT: String(await findFreePort(ports)),
    }
    const part = nodePart({
      name: service,
      entry: built(service === 'ingest' ? entries.ingest : entries.aggregator),
      logPath: join(dataFolderAt(options.dataDir).logs, `second-${service}.log`),
      environment: () => ({ ...options.environment, ...environment, ...own }),
    })
    seconds.push(
      supervise(
        part,
        () => undefined,
        async (_, pid) => void (pid !== undefined && secondPids.set(service, pid)),
      ),
    )
  }
  const kill = async (): Promise<void> => {
    // Before their supervision ends, which would ask them first; one that is suspended hears no question.
    const stopping = seconds.map((part) => part.stop())
    for (const pid of secondPids.values()) killProcess(pid)
    await Promise.all([instance.kill(), ...stopping])
  }
  await Promise.all(seconds.map((part) => part.start())).catch(async (error: unknown) => {
    await kill()
    throw error
  })
  const pidsOf = async (service: ServiceName): Promise<number[]> => {
    const { processes } = await instance.runFile()
    const first = processes[service]
    const second = service === 'control-plane' ? undefined : secondPids.get(service)
    return [first, second].filter((pid) => pid !== undefined)
  }

  return {
    baseUrls: [instance.credentials.baseUrl, `http://${host}:${secondPort}`],
    sandboxKey: instance.credentials.sandboxKey,
    environment,
    pidsOf,
    async restartUnderKills(random, kills) {
      await instance.kill()
      instance = await startUnderKills(options, random, kills)
      environment = (await instance.runFile()).environment
      for (const pid of secondPids.values()) killProcess(pid)
    },
    untilReplaced: (service, pid) => untilReplaced(() => pidsOf(service), service, pid),
    async stop() {
      await Promise.all(seconds.map((part) => part.stop()))
      const code = await instance.stop()
      if (code !== 0) throw new Error(`The installation stopped with exit code ${code}.`)
    },
    kill,
  }
}

async function untilReplaced(
  readPids: () => Promise<number[]>,
  service: ServiceName,
  pid: number,
): Promise<void> {
  const deadline = Date.now() + replacedWithinMs
  for (;;) {
    const pids = await readPids()
    const living = await livingProcesses(pids)
    if (!pids.includes(pid) && living.length === pids.length) return
    if (Date.now() > deadline) throw new Error(`${service} was not started again.`)
    await sleep(pollMs)
  }
}

const ownSettings: Record<DoubledService, Readonly<Record<string, string>>> = {
  ingest: {},
  'aggregator-counters': { TOLLGATE_PROJECTION: 'counters' },
  'aggregator-sink': { TOLLGATE_PROJECTION: 'sink' },
}

/** What the first processes run as well, also when this one runs from source. */
function built(entry: string): string {
  return entry.replace(/\/src\/(.+)\.ts$/, '/dist/$1.js')
}
