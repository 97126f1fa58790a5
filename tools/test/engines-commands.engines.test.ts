import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { hasEnded } from '@tollgate/platform/processes/process-identity'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { planFreePorts, planPorts, portsOf, type FirstPorts } from '../src/engines/port-plan.ts'
import { readProcessRecord } from '../src/engines/process-record.ts'
import { sendRedisCommand } from '../src/engines/redis-command.ts'
import { findMissingEngines } from '../../deploy/test/engines/find-missing-engines.ts'
import {
  makeTemporaryFolder,
  type TemporaryFolder,
} from '@tollgate/deploy/standalone/temporary-folder'
import { requireFreePort } from '@tollgate/deploy/standalone/ports'
import { processTree } from '../src/instance/process-tree.ts'

const run = promisify(execFile)
const missing = await findMissingEngines()

/** The built program that `npm run engines:up` runs. */
const program = fileURLToPath(new URL('../dist/engines/main.js', import.meta.url))
const servers = ['kafka-1', 'schema-registry', 'redis', 'postgres', 'clickhouse', 'nats']

let folder: TemporaryFolder
let environment: Record<string, string | undefined>
let ports: FirstPorts

beforeAll(async () => {
  folder = await makeTemporaryFolder('engines')
  ports = await findFirstPorts()
  environment = {
    ...process.env,
    TOLLGATE_ENGINES_DIR: folder.path,
    TOLLGATE_ENGINES_KAFKA_PORT: String(ports.kafkaPort),
    TOLLGATE_ENGINES_SCHEMA_REGISTRY_PORT: String(ports.schemaRegistryPort),
    TOLLGATE_ENGINES_REDIS_PORT: String(ports.redisPort),
    TOLLGATE_ENGINES_REDIS_CLUSTER_PORT: String(ports.redisClusterPort),
    TOLLGATE_ENGINES_POSTGRES_PORT: String(ports.postgresPort),
    TOLLGATE_ENGINES_CLICKHOUSE_PORT: String(ports.clickhousePort),
    TOLLGATE_ENGINES_NATS_PORT: String(ports.natsPort),
  }
})

afterAll(async () => {
  if (!missing.isLeftOut) await command('down')
  await folder.remove()
})

test.skipIf(missing.isLeftOut)(
  `starts all engines, restarts only a killed one, and leaves no process after down${missing.title}`,
  { timeout: 300_000 },
  async () => {
    expect((await command('status')).code).toBe(1)
    const first = await command('up')
    expect(first).toMatchObject({ code: 0 })
    const pids = recordedPids()
    expect(Object.keys(pids)).toEqual(servers)
    expect(await states()).toEqual(servers.map((name) => [name, 'healthy']))
    expect(await sendRedisCommand(ports.redisPort, 'SET kept yes')).toBe('+OK\r\n')

    process.kill(pids['redis']!, 'SIGKILL')
    expect(await states()).toContainEqual(['redis', 'not running'])
    expect(await command('up')).toMatchObject({ code: 0 })
    expect(await sendRedisCommand(ports.redisPort, 'GET kept')).toBe('$3\r\nyes\r\n')
    const { redis: redisAgain, ...othersAgain } = recordedPids()
    const { redis, ...others } = pids
    expect(redisAgain).not.toBe(redis)
    expect(othersAgain).toEqual(others)

    process.kill(pids['kafka-1']!, 'SIGSTOP')
    expect(await states()).toContainEqual(['kafka-1', 'does not answer'])
    const running = await processesOf(Object.values(recordedPids()))
    expect(running.length).toBeGreaterThanOrEqual(servers.length)
    expect(await command('down')).toMatchObject({ code: 0 })
    expect(running.filter((pid) => !hasEnded(pid))).toEqual([])
    expect(await states()).toContainEqual(['kafka', 'not running'])
  },
)

/** Returns first ports for which the consecutive ports are free too. */
async function findFirstPorts(): Promise<FirstPorts> {
  for (;;) {
    const free = await planFreePorts()
    const first = {
      kafkaPort: free.kafka[0]!.port,
      schemaRegistryPort: free.schemaRegistry,
      redisPort: free.redis,
      redisClusterPort: free.redisCluster[0]!.port,
      postgresPort: free.postgres,
      clickhousePort: free.clickhouse,
      natsPort: free.nats,
    }
    if (await canListenOnAll(first)) return first
  }
}

async function canListenOnAll(first: FirstPorts): Promise<boolean> {
  try {
    for (const port of portsOf(planPorts(first))) await requireFreePort(port, '')
    return true
  } catch {
    return false
  }
}

type Outcome = { readonly code: number; readonly output: string }

async function command(name: string): Promise<Outcome> {
  try {
    const { stdout } = await run(process.execPath, [program, name], { env: environment })
    return { code: 0, output: stdout }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, output: stdout + stderr }
  }
}

/** Returns the name and state in each line of the table that `status` prints. */
async function states(): Promise<string[][]> {
  const { output } = await command('status')
  const lines = output.trim().split('\n').slice(2)
  return lines.map((line) => line.split(/ {2,}/).slice(0, 2))
}

function recordedPids(): Record<string, number> {
  const records = servers.map((name) => readProcessRecord(join(folder.path, name)))
  return Object.fromEntries(
    records.flatMap((record) => (record ? [[record.name, record.pid]] : [])),
  )
}

/** Returns the given processes and all their descendants. */
async function processesOf(pids: readonly number[]): Promise<number[]> {
  return (await Promise.all(pids.map(processTree))).flat()
}
