import type { EngineName } from '../../engines/engine-names.ts'
import { startServiceEngines, type ServiceEngines } from '../../engines/start-engines.ts'

/** The engines that one benchmark uses. They end with this process. */
export type BenchEngines = Omit<ServiceEngines, 'running'> & {
  /** Process ids, under the names that the embedded installation uses for the same stores. */
  readonly processes: Readonly<Record<string, number>>
  /** Process ids of the Kafka brokers. */
  readonly brokers: readonly number[]
}

export async function startBenchEngines(
  root: string,
  brokers: number,
  print: (line: string) => void,
): Promise<BenchEngines> {
  const { running, ...engines } = await startServiceEngines(
    { root, print, endsWithParent: true },
    brokers,
  )
  const pidOf = (name: EngineName): number => running.get(name)!.servers[0]!.pid
  return {
    ...engines,
    brokers: running.get('kafka')!.servers.map(({ pid }) => pid),
    processes: { 'chdb-gateway': pidOf('clickhouse'), redis: pidOf('redis') },
  }
}
