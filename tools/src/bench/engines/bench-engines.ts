import { join } from 'node:path'
import type { InstanceOptions } from '../../instance/instance.ts'
import type { EngineName } from '../../engines/engine-names.ts'
import type { Engine, EngineOptions } from '../../engines/engine.ts'
import { planFreePorts, type PortPlan } from '../../engines/port-plan.ts'
import { readOrCreatePassword } from '@tollgate/deploy/standalone/password-file'
import { servicesEnvironment } from '../../engines/services-environment.ts'
import { startEngines } from '../../engines/start-engines.ts'

/** The engines that one benchmark uses. They end with this process. */
export type BenchEngines = {
  /** Environment with which services use the engines. */
  readonly environment: InstanceOptions['environment']
  readonly ports: PortPlan
  /** Process ids, under the names that the embedded installation uses for the same stores. */
  readonly processes: Readonly<Record<string, number>>
  /** Process ids of the Kafka brokers. */
  readonly brokers: readonly number[]
  stop(): Promise<void>
}

const names: readonly EngineName[] = ['kafka', 'schema-registry', 'redis', 'postgres', 'clickhouse']

export async function startBenchEngines(
  root: string,
  brokers: number,
  say: (line: string) => void,
): Promise<BenchEngines> {
  const options: EngineOptions = { root, say, endsWithParent: true }
  const all = await planFreePorts()
  const ports = { ...all, kafka: all.kafka.slice(0, brokers) }
  const { running, refused } = await startEngines(names, options, ports)
  const stop = async (): Promise<void> => {
    await Promise.all([...running.values()].map((engine: Engine) => engine.stop()))
  }
  const [refusal] = refused.values()
  if (refusal) {
    await stop()
    throw refusal
  }
  const addresses = new Map([...running].map(([name, { address }]) => [name, address]))
  const pidOf = (name: EngineName): number => running.get(name)!.servers[0]!.pid
  return {
    environment: servicesEnvironment(
      addresses,
      await readOrCreatePassword(join(root, 'clickhouse')),
    ),
    ports,
    brokers: running.get('kafka')!.servers.map(({ pid }) => pid),
    processes: { 'chdb-gateway': pidOf('clickhouse'), redis: pidOf('redis') },
    stop,
  }
}
