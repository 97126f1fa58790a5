import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findPostgresBinaries } from '../src/database/embedded/binaries.ts'
import { launch, placeIn } from '../src/database/embedded/cluster.ts'
import { startEmbeddedPostgres } from '../src/database/embedded/embedded-postgres.ts'
import { chooseLauncher } from '../src/database/embedded/launcher.ts'
import { serverArguments } from '../src/database/embedded/server-arguments.ts'
import { createPostgresDatabase } from '../src/database/postgres/postgres-database.ts'

let folder: string
let data: string

beforeEach(async () => {
  // mkdtemp creates it with mode 0700, like a clone in a temporary folder: only its owner can access it.
  folder = await mkdtemp(join(tmpdir(), 'tollgate-pg-'))
  data = join(folder, 'data')
})

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

describe('embedded PostgreSQL', () => {
  it('keeps data and password across a restart', async () => {
    const first = await startEmbeddedPostgres({ folder, port: 0 })
    await addNotes(first.url, 3)
    await first.stop()
    await first.stop()
    await first.exited
    const second = await startEmbeddedPostgres({ folder, port: 0 })
    expect(await countNotes(second.url)).toBe(3)
    expect(new URL(second.url).password).toBe(new URL(first.url).password)
    await second.stop()
  })

  it('refuses connections without the password', async () => {
    const server = await startEmbeddedPostgres({ folder, port: 0 })
    const stranger = createPostgresDatabase({ url: server.url.replace(/:[^:@]*@/, ':wrong@') })
    await expect(stranger.ping()).rejects.toMatchObject({ code: '28P01' })
    await stranger.close()
    await server.stop()
  })

  it('recovers when all its processes are killed at once', async () => {
    const server = await startEmbeddedPostgres({ folder, port: 0 })
    await addNotes(server.url, 20)
    await killTree(await postmasterPid())
    await server.exited
    const again = await startEmbeddedPostgres({ folder, port: 0 })
    expect(await countNotes(again.url)).toBe(20)
    await again.stop()
  })

  it.runIf(process.platform === 'linux')(
    'syncs all files with one call when it recovers',
    async () => {
      const server = await startEmbeddedPostgres({ folder, port: 0 })
      const database = createPostgresDatabase({ url: server.url, isOwner: true })
      const [setting] = await database.control`show recovery_init_sync_method`
      await database.close()
      await server.stop()
      expect({ ...setting }).toEqual({ recovery_init_sync_method: 'syncfs' })
    },
  )

  it('starts after its parent was killed, with all acknowledged data', async () => {
    const { parent, url } = await startHolder()
    await addNotes(url, 10)
    parent.kill('SIGKILL')
    await once(parent, 'exit')
    const again = await startEmbeddedPostgres({ folder, port: 0 })
    expect(await countNotes(again.url)).toBe(10)
    await again.stop()
  })

  it('starts after its parent and all its processes were killed', async () => {
    const { parent, url } = await startHolder()
    await addNotes(url, 10)
    const parentEnded = once(parent, 'exit')
    await killTree(await postmasterPid())
    parent.kill('SIGKILL')
    await parentEnded
    const again = await startEmbeddedPostgres({ folder, port: 0 })
    expect(await countNotes(again.url)).toBe(10)
    await again.stop()
  })

  it('shuts down a server that outlived its parent', async () => {
    const first = await startEmbeddedPostgres({ folder, port: 0 })
    await addNotes(first.url, 2)
    await first.stop()
    const orphan = await startOrphan()
    const again = await startEmbeddedPostgres({ folder, port: 0 })
    expect(await postmasterPid()).not.toBe(orphan)
    expect(await countNotes(again.url)).toBe(2)
    await again.stop()
  })

  it('does not touch a server whose parent is alive', async () => {
    const { parent, url } = await startHolder()
    await expect(startEmbeddedPostgres({ folder, port: 0 })).rejects.toThrow(
      `The database folder ${data} is in use by process ${parent.pid}.`,
    )
    await addNotes(url, 1)
    parent.kill('SIGKILL')
    await once(parent, 'exit')
    await (await startEmbeddedPostgres({ folder, port: 0 })).stop()
  })

  it('ignores a lock file whose process id now belongs to another process', async () => {
    const server = await startEmbeddedPostgres({ folder, port: 0 })
    await addNotes(server.url, 1)
    const lock = await readFile(join(data, 'postmaster.pid'), 'utf8')
    await server.stop()
    const stranger = spawn('sleep', ['60'])
    await writeFile(join(data, 'postmaster.pid'), lock.replace(/^\d+/, String(stranger.pid)))
    const again = await startEmbeddedPostgres({ folder, port: 0 })
    expect(await countNotes(again.url)).toBe(1)
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull()
    stranger.kill('SIGKILL')
    await again.stop()
  })

  it('creates a folder again that a crash left incomplete', async () => {
    await mkdir(join(folder, 'data.unfinished', 'base'), { recursive: true })
    const server = await startEmbeddedPostgres({ folder, port: 0 })
    expect(await readdir(folder)).not.toContain('data.unfinished')
    await server.stop()
  })

  it('refuses a folder of a newer PostgreSQL with one sentence', async () => {
    await mkdir(data)
    await writeFile(join(data, 'PG_VERSION'), '99\n')
    await expect(startEmbeddedPostgres({ folder, port: 0 })).rejects.toThrow(
      /was written by PostgreSQL 99, newer than the 18 of this version of Tollgate: start the newer version\.$/,
    )
  })

  it('reports the output of a server that cannot start', async () => {
    const first = await startEmbeddedPostgres({ folder, port: 0 })
    const port = Number(new URL(first.url).port)
    const other = await mkdtemp(join(tmpdir(), 'tollgate-pg-'))
    await expect(startEmbeddedPostgres({ folder: other, port })).rejects.toThrow(
      /could not bind IPv4 address "127.0.0.1": Address already in use/,
    )
    await first.stop()
    await rm(other, { recursive: true, force: true })
  })
})

async function addNotes(url: string, count: number): Promise<void> {
  const database = createPostgresDatabase({ url, isOwner: true, poolMax: 1 })
  const sql = database.control
  await sql`CREATE TABLE IF NOT EXISTS public.notes (id bigserial PRIMARY KEY)`
  for (let each = 0; each < count; each += 1) await sql`INSERT INTO public.notes DEFAULT VALUES`
  await database.close()
}

async function countNotes(url: string): Promise<number> {
  const database = createPostgresDatabase({ url, isOwner: true, poolMax: 1 })
  const rows = await database.control`SELECT id FROM public.notes`
  await database.close()
  return rows.length
}

async function postmasterPid(): Promise<number> {
  return Number.parseInt(await readFile(join(data, 'postmaster.pid'), 'utf8'), 10)
}

async function killTree(pid: number): Promise<void> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  for (const each of [String(pid), ...children.trim().split(' ')].filter(Boolean)) {
    try {
      process.kill(Number(each), 'SIGKILL')
    } catch (error) {
      // A child process of a killed server ends by itself, and may be faster.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}

async function startHolder(): Promise<{ parent: ChildProcess; url: string }> {
  const script = fileURLToPath(new URL('./hold-embedded-postgres.ts', import.meta.url))
  const parent = fork(script, [folder], { execArgv: ['--conditions=source', '--import', 'tsx'] })
  const [report] = (await once(parent, 'message')) as [{ url: string }]
  return { parent, url: report.url }
}

/** Starts a server without a living parent: a shell starts it and ends at once. */
async function startOrphan(): Promise<number> {
  const binaries = await findPostgresBinaries()
  const launcher = chooseLauncher({ folder, dataFolder: data, postgres: binaries.postgres })
  const prefix = launcher.prefix.filter((_, at) => at < launcher.prefix.indexOf('setpriv'))
  const shell = ['sh', '-c', '"$@" & exit 0', 'sh', ...prefix]
  const cluster = {
    place: placeIn(folder),
    binaries,
    launcher: { ...launcher, prefix: shell },
    isDurable: true,
  }
  const port = 20_000 + Math.floor(Math.random() * 20_000)
  launch(cluster, binaries.postgres, serverArguments({ dataFolder: data, port, isDurable: true }))
  for (;;) {
    const lock = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')
    if (/^ready/m.test(lock)) return Number.parseInt(lock, 10)
    await sleep(20)
  }
}
