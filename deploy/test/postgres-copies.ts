import { readdir, rm, statfs } from 'node:fs/promises'
import { freemem } from 'node:os'
import { join } from 'node:path'
import { hasEnded } from '@tollgate/platform/processes/process-identity'
import { copiesVariable } from '@tollgate/platform/testing/copied-postgres'
import { makeTemporaryFolder } from '../src/standalone/temporary-folder.ts'

/** The file system in memory of most Linux systems. In a container it is often too small. */
const memoryFolder = '/dev/shm'
const memoryBytesMin = 6 * 2 ** 30

/**
 * Creates the folder of this run's test servers, once for both projects: the data folders from which PostgreSQL servers are copied,
 * and the servers that the files of one worker share. Those end with their worker, which may take a moment longer than the run.
 *
 * All temporary files of the run are kept in memory if there is enough of it. Tests wait for several thousand syncs, each of which
 * takes milliseconds on a disk. Files in memory survive every kill of a process just like files on a disk. `TMPDIR=/tmp npm test`
 * uses the disk.
 */
export default async function provideCopies(): Promise<(() => Promise<void>) | undefined> {
  if (process.env[copiesVariable] !== undefined) return undefined
  const inMemory = process.env['TMPDIR'] === undefined && (await hasMemory())
  if (inMemory) {
    await removeOfKilledRuns()
    process.env['TMPDIR'] = memoryFolder
  }
  const { path } = await makeTemporaryFolder(`test-run-${process.pid}`)
  process.env[copiesVariable] = path
  if (inMemory) process.env['TMPDIR'] = path
  return () => rm(path, { recursive: true, force: true, maxRetries: 20 })
}

async function hasMemory(): Promise<boolean> {
  const { bavail, bsize } = await statfs(memoryFolder).catch(() => ({ bavail: 0, bsize: 0 }))
  return Math.min(bavail * bsize, freemem()) >= memoryBytesMin
}

/** Removes the folders of runs that were killed, because they would fill the memory. A folder with a mounted disk stays. */
async function removeOfKilledRuns(): Promise<void> {
  for (const name of await readdir(memoryFolder)) {
    const [, pid] = /^tollgate-test-run-(\d+)-/.exec(name) ?? []
    if (pid === undefined || !hasEnded(Number(pid))) continue
    await rm(join(memoryFolder, name), { recursive: true, force: true }).catch(() => undefined)
  }
}
