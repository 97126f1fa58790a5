import { makeTemporaryFolder } from '../../src/standalone/temporary-folder.ts'
import type { EngineName } from '../../../tools/src/engines/engine-names.ts'
import { planFreePorts } from '../../../tools/src/engines/port-plan.ts'
import { startEngines, type StartResult } from '../../../tools/src/engines/start-engines.ts'
import { containerHost, startContainers } from './containers.ts'

/** Variables that tell a suite the address of an engine, and whether it exists. */
const variables: readonly (readonly [EngineName, string])[] = [
  ['kafka', 'TOLLGATE_TEST_KAFKA_BROKERS'],
  ['schema-registry', 'TOLLGATE_TEST_SCHEMA_REGISTRY_URL'],
  ['redis', 'TOLLGATE_TEST_REDIS_URL'],
  ['redis-cluster', 'TOLLGATE_TEST_REDIS_CLUSTER'],
  ['postgres', 'TOLLGATE_TEST_POSTGRES_URL'],
  ['nats', 'TOLLGATE_TEST_NATS_URL'],
]

type Provided = StartResult<{ readonly address: string; stop(): Promise<void> }>

/**
 * Starts the engines whose addresses are not set, in containers if possible and otherwise from tools/local. Engines that cannot be
 * started are listed and their suites skipped. In CI that is an error. Runs once, and only if the run includes a test of this
 * project.
 */
export default async function provideEngines(): Promise<(() => Promise<void>) | undefined> {
  const missing = variables.filter(([, variable]) => process.env[variable] === undefined)
  if (missing.length === 0) return undefined
  const names = missing.map(([name]) => name)
  const host = await containerHost()
  const provided =
    host === undefined ? await provideLocally(names) : await provideContainers(names, host)
  const { running, refused } = provided
  for (const [name, variable] of missing) {
    const address = running.get(name)?.address
    if (address !== undefined) process.env[variable] = address
  }
  const left = [...refused].map(([name, { message }]) => `No tests with ${name}: ${message}`)
  if (left.length > 0 && process.env['CI'] === 'true') {
    await provided.stop()
    throw new Error(left.join('\n'))
  }
  left.forEach(print)
  return () => provided.stop()
}

type ProvidedWithStop = Provided & { stop(): Promise<void> }

async function provideLocally(names: readonly EngineName[]): Promise<ProvidedWithStop> {
  const folder = await makeTemporaryFolder('test-engines')
  const options = { root: folder.path, print, endsWithParent: true, isShortLived: true }
  const provided = await startEngines(names, options, await planOneBroker())
  return {
    ...provided,
    async stop() {
      await stopAll(provided)
      await folder.remove()
    },
  }
}

async function planOneBroker(): ReturnType<typeof planFreePorts> {
  const ports = await planFreePorts()
  return { ...ports, kafka: ports.kafka.slice(0, 1) }
}

async function provideContainers(
  names: readonly EngineName[],
  host: string,
): Promise<ProvidedWithStop> {
  const provided = await startContainers(names, host)
  return { ...provided, stop: () => stopAll(provided) }
}

async function stopAll({ running }: Provided): Promise<void> {
  await Promise.all([...running.values()].map((engine) => engine.stop()))
}

function print(line: string): void {
  console.error(`[engines] ${line}`)
}
