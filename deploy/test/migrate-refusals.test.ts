import { mkdir, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeTemporaryFolder, type TemporaryFolder } from '../src/standalone/temporary-folder.ts'
import { migrate } from '../src/migrate/migrate.ts'
import { dataFolderAt, type DataFolder } from '../src/standalone/data-folder.ts'
import { lockFolder } from '../src/standalone/folder-lock.ts'

/** None of these engines exists. A command that tries to connect has not refused in time. */
const engines = {
  TOLLGATE_EVENT_LOG: 'kafka',
  TOLLGATE_KAFKA_BROKERS: '127.0.0.1:1',
  TOLLGATE_HOT_STATE: 'redis',
  TOLLGATE_REDIS_URL: 'redis://127.0.0.1:1',
  TOLLGATE_DATABASE_URL: 'postgres://127.0.0.1:1/none',
  TOLLGATE_CLICKHOUSE_URL: 'http://127.0.0.1:1',
}

let temporary: TemporaryFolder
let folder: DataFolder

beforeEach(async () => {
  temporary = await makeTemporaryFolder('migrate-refusals')
  folder = dataFolderAt(temporary.path)
  for (const path of [folder.log, folder.groups, folder.clickhouse, folder.postgres]) {
    await mkdir(path)
  }
  await writeFile(folder.formatFile, '{"format": 1}')
})

afterEach(() => temporary.remove())

function migrateTo(environment: Readonly<Record<string, string>>): Promise<boolean> {
  const { signal } = new AbortController()
  return migrate({ from: folder.root, environment, signal, print: () => undefined })
}

test('names the engines that are not configured', async () => {
  await expect(migrateTo({})).rejects.toThrow(
    /^Name the engines to move to.* TOLLGATE_EVENT_LOG=kafka.* TOLLGATE_HOT_STATE=redis.* TOLLGATE_DATABASE_URL; TOLLGATE_CLICKHOUSE_URL\.$/,
  )
  const { TOLLGATE_HOT_STATE: _, ...others } = engines
  await expect(migrateTo(others)).rejects.toThrow(/Missing: TOLLGATE_HOT_STATE=redis[^;]*\.$/)
})

test('accepts only a folder with all parts of an installation', async () => {
  folder = dataFolderAt(`${folder.root}/empty`)
  await expect(migrateTo(engines)).rejects.toThrow(/empty holds no embedded installation .*--from/)
})

test('refuses a running installation', async () => {
  const lock = await lockFolder(folder.root)
  await expect(migrateTo(engines)).rejects.toThrow(
    `Tollgate runs on ${folder.root} (process ${process.pid}). Stop it with Ctrl-C, then migrate.`,
  )
  await lock.release()
})

test('requires a killed installation to be started and stopped first', async () => {
  await writeFile(folder.runFile, '{}')
  await expect(migrateTo(engines)).rejects.toThrow(/was killed on .* Start it once with npm start/)
})

test('refuses a folder that a newer release wrote', async () => {
  await writeFile(folder.formatFile, '{"format": 2}')
  await expect(migrateTo(engines)).rejects.toThrow(/written by a newer Tollgate/)
})
