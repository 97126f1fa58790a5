import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { hasEnded } from '@tollgate/platform/processes/process-identity'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { planFreePorts } from '../src/engines/port-plan.ts'
import { readProcessRecord } from '../src/engines/process-record.ts'
import { askRedis } from '../src/engines/redis-question.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../src/instance/temporary-folder.ts'
import { processTree } from '../src/instance/process-tree.ts'

const run = promisify(execFile)

/** The built program, which `npm run engines:up` runs. */
const program = fileURLToPath(new URL('../dist/engines/main.js', import.meta.url))
const servers = ['kafka-1', 'schema-registry', 'redis', 'postgres', 'clickhouse']

let folder: TemporaryFolder
let environment: Record<string, string | undefined>
let redisPort: number

beforeAll(async () => {
  folder = await makeTemporaryFolder('engines')
  const ports = await planFreePorts()
  redisPort = ports.redis
  environment = {
    ...process.env,
    TOLLGATE_ENGINES_DIR: folder.path,
    TOLLGATE_ENGINES_KAFKA_PORT: String(ports.kafka[0]!.port),
    TOLLGATE_ENGINES_SCHEMA_REGISTRY_PORT: String(ports.schemaRegistry),
    TOLLGATE_ENGINES_REDIS_PORT: String(ports.redis),
    TOLLGATE_ENGINES_POSTGRES_PORT: String(ports.postgres),
    TOLLGATE_ENGINES_CLICKHOUSE_PORT: String(ports.clickhouse),
  }
})

afterAll(async () => {
  await command('down')
  await folder.remove()
})

test(
  'start all, only what was killed, and leave nothing behind',
  { timeout: 300_000 },
  async () => {
    expect((await command('status')).code).toBe(1)
    const first = await command('up')
    expect(first).toMatchObject({ code: 0 })
    const pids = recordedPids()
    expect(Object.keys(pids)).toEqual(servers)
    expect(await states()).toEqual(servers.map((name) => [name, 'healthy']))
    expect(await askRedis(redisPort, 'SET kept yes')).toBe('+OK\r\n')

    process.kill(pids['redis']!, 'SIGKILL')
    expect(await states()).toContainEqual(['redis', 'not running'])
    expect(await command('up')).toMatchObject({ code: 0 })
    expect(await askRedis(redisPort, 'GET kept')).toBe('$3\r\nyes\r\n')
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

type Outcome = { readonly code: number; readonly output: string }

async function command(name: string): Promise<Outcome> {
  try {
    const { stdout } = await run(process.execPath, [program, name], { env: environment })
    return { code: 0, output: stdout }
  } catch (error) {
    const { code, stdout } = error as { code: number; stdout: string }
    return { code, output: stdout }
  }
}

/** Name and state of each line of the table that `status` prints. */
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

/** Those of the numbers and of all processes below them. */
async function processesOf(pids: readonly number[]): Promise<number[]> {
  return (await Promise.all(pids.map(processTree))).flat()
}
