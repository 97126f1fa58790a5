import { execFileSync, spawnSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { runToEnd } from '../../tools/src/instance/instance.ts'
import { makeTemporaryFolder } from '../src/standalone/temporary-folder.ts'
import { lockFolder } from '../src/standalone/folder-lock.ts'
import { findFreePort, host } from '../src/standalone/ports.ts'

/* Starts that must fail. Each ends with an exit code other than 0 and prints what to do. */

const folder = await makeTemporaryFolder('bad-starts')

afterAll(() => folder.remove())

type BadStart = {
  readonly name: string
  readonly environment?: Readonly<Record<string, string>>
  /** A path below the folder of the test, or an absolute path. */
  readonly dataDir?: string
  readonly port?: number
  readonly prepare?: (dataDir: string) => Promise<() => Promise<void> | void>
  readonly lines: (dataDir: string) => readonly string[]
}

const chooseAnotherFolder = 'Choose another with TOLLGATE_DATA_DIR.'

const badStarts: readonly BadStart[] = [
  {
    name: 'a data folder that is a file',
    dataDir: 'file',
    prepare: (dataDir) => writeFile(dataDir, '').then(() => () => undefined),
    lines: (dataDir) => [
      `Cannot write to the data folder ${dataDir} (EEXIST). ${chooseAnotherFolder}`,
    ],
  },
  {
    name: 'a data folder below a file',
    dataDir: 'plain/data',
    prepare: () => writeFile(join(folder.path, 'plain'), '').then(() => () => undefined),
    lines: (dataDir) => [
      `Cannot write to the data folder ${dataDir} (ENOTDIR). ${chooseAnotherFolder}`,
    ],
  },
  {
    name: 'a data folder where none can be made',
    dataDir: '/proc/tollgate',
    lines: (dataDir) => [
      `Cannot write to the data folder ${dataDir} (ENOENT). ${chooseAnotherFolder}`,
    ],
  },
  {
    name: 'a data folder whose name is too long',
    dataDir: 'n'.repeat(300),
    lines: (dataDir) => [
      `Cannot write to the data folder ${dataDir} (ENAMETOOLONG). ${chooseAnotherFolder}`,
    ],
  },
  {
    name: 'a misspelled setting',
    environment: { TOLLGATE_PROT: '9000' },
    lines: () => [
      'Unknown setting TOLLGATE_PROT. Did you mean TOLLGATE_PORT? Correct it, or remove it from the environment.',
    ],
  },
  {
    name: 'a setting that is like no other',
    environment: { TOLLGATE_QQQQ_ZZZZZZZZ: '1' },
    lines: () => [
      'Unknown setting TOLLGATE_QQQQ_ZZZZZZZZ. docs/configuration.md lists all settings. Correct it, or remove it from the environment.',
    ],
  },
  {
    name: 'several ingest workers on the embedded log',
    environment: { TOLLGATE_INGEST_WORKERS: '2' },
    lines: () => [
      'TOLLGATE_INGEST_WORKERS=2: several workers cannot share the embedded log, which has one writer. ' +
        'Set it to 1, or run on the engines with TOLLGATE_EVENT_LOG=kafka and TOLLGATE_HOT_STATE=redis',
    ],
  },
  {
    name: 'a port that does not exist',
    port: 70_000,
    lines: () => ['TOLLGATE_PORT=70000: must be a whole number from 0 to 65535'],
  },
  {
    name: 'a folder of a newer version',
    dataDir: 'newer',
    prepare: async (dataDir) => {
      await mkdir(dataDir)
      await writeFile(join(dataDir, 'format.json'), '{"format": 99}')
      return () => undefined
    },
    lines: (dataDir) => [
      `The data folder ${dataDir} was written by a newer Tollgate (format 99; this one knows 1). ` +
        'Start that version, or choose another folder with TOLLGATE_DATA_DIR.',
    ],
  },
  {
    name: 'a folder whose format cannot be read',
    dataDir: 'unreadable',
    prepare: async (dataDir) => {
      await mkdir(dataDir)
      await writeFile(join(dataDir, 'format.json'), '')
      return () => undefined
    },
    lines: (dataDir) => [
      `${join(dataDir, 'format.json')} is not readable as {"format": number}. ` +
        'Restore it, or choose another folder with TOLLGATE_DATA_DIR.',
    ],
  },
  {
    name: 'a folder on which another one runs',
    dataDir: 'taken',
    prepare: async (dataDir) => {
      await mkdir(dataDir)
      const lock = await lockFolder(dataDir)
      return () => lock.release()
    },
    lines: (dataDir) => [
      `Tollgate already runs on ${dataDir} (process ${process.pid}). ` +
        'Stop it first, or choose another folder with TOLLGATE_DATA_DIR.',
    ],
  },
]

describe('npm start refuses', () => {
  test.for(badStarts)('$name', async ({ environment, dataDir, port = 0, prepare, lines }) => {
    const path = dataDir?.startsWith('/') ? dataDir : join(folder.path, dataDir ?? 'data')
    const undo = await prepare?.(path)
    const outcome = await runToEnd({
      dataDir: path,
      port,
      environment: { ...process.env, ...environment },
    })
    await undo?.()
    const output = outcome.output.trim().split('\n')
    const isStarting = output[0] === `Starting Tollgate on ${path} ...`
    expect(isStarting ? output.slice(1) : output).toEqual(lines(path))
    expect(outcome.code).toBe(1)
  })

  test('a port that another program uses', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, host, resolve))
    const { port } = server.address() as AddressInfo
    const dataDir = join(folder.path, 'port-in-use')
    const { code, output } = await runToEnd({ dataDir, port, environment: process.env })
    server.close()
    expect(code).toBe(1)
    expect(output.trim().split('\n').slice(1)).toEqual([
      `Port ${port} on ${host} is in use. Stop the program that uses it, or choose another port with TOLLGATE_PORT.`,
    ])
  })

  test('one port for the service and for ClickHouse', async () => {
    const port = await findFreePort(new Set())
    const { code, output } = await runToEnd({
      dataDir: join(folder.path, 'one-port'),
      port,
      environment: { ...process.env, TOLLGATE_CLICKHOUSE_PORT: String(port) },
    })
    expect([code, output.trim().split('\n').slice(1)]).toEqual([
      1,
      [
        `TOLLGATE_PORT and TOLLGATE_CLICKHOUSE_PORT are both ${port}. Choose another port for one of them.`,
      ],
    ])
  })

  test('a data folder on a disk that is mounted read-only', async (context) => {
    const disk = join(folder.path, 'disk')
    await mkdir(disk, { recursive: true })
    const mount = spawnSync('/bin/mount', ['-t', 'tmpfs', '-o', 'ro,size=1M', 'tmpfs', disk])
    if (mount.status !== 0) return context.skip('mounting a small disk is not allowed here')
    const dataDir = join(disk, 'data')
    const { code, output } = await runToEnd({ dataDir, port: 0, environment: process.env })
    execFileSync('/bin/umount', [disk])
    expect(code).toBe(1)
    expect(output.trim().split('\n').slice(1)).toEqual([
      `Cannot write to the data folder ${dataDir} (EROFS). ${chooseAnotherFolder}`,
    ])
  })

  test('an empty data folder setting', () => {
    const program = fileURLToPath(new URL('../dist/bundled/standalone/main.js', import.meta.url))
    const env = { ...process.env, TOLLGATE_DATA_DIR: '' }
    const { status, stderr } = spawnSync(process.execPath, [program], { encoding: 'utf8', env })
    expect([status, stderr]).toEqual([1, 'TOLLGATE_DATA_DIR=: must name a path\n'])
  })

  test('an unknown option, and suggests the nearest one', () => {
    const start = fileURLToPath(new URL('../start.mjs', import.meta.url))
    const { status, stderr } = spawnSync('node', [start, '--engine'], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([1, expect.stringContaining('Did you mean --engines?')])
  })
})
