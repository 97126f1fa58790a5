import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, existsSync, readFileSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { launch, userName, type Cluster, type Place } from './cluster.ts'
import { PostgresKilledError, wasKilled } from './postgres-killed-error.ts'

/**
 * Creates the data folder under a temporary name and renames it when it is complete. A crash leaves nothing that looks like a
 * database.
 */
export async function initialize(cluster: Cluster): Promise<void> {
  const { place, launcher } = cluster
  const unfinished = join(place.folder, 'data.unfinished')
  await rm(unfinished, { recursive: true, force: true })
  const password = randomBytes(24).toString('base64url')
  await writeFile(place.password, `${password}\n`, { mode: 0o600 })
  if (launcher.uid !== undefined && launcher.gid !== undefined) {
    chownSync(place.password, launcher.uid, launcher.gid)
  }
  const { child, output } = launch(cluster, cluster.binaries.initdb, [
    `--pgdata=${unfinished}`,
    `--username=${userName}`,
    `--pwfile=${place.password}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    ...(cluster.isDurable ? [] : ['--no-sync']),
  ])
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  if (code !== 0 && wasKilled(signal, output())) {
    throw new PostgresKilledError('PostgreSQL was killed while it made its data folder.')
  }
  if (code !== 0) throw new Error(`PostgreSQL could not make its data folder. ${output()}`)
  await rename(unfinished, place.data)
}

export function refuseOtherVersion({ data, folder }: Place, majorVersion: number): void {
  const file = join(data, 'PG_VERSION')
  if (!existsSync(file)) return
  const written = Number.parseInt(readFileSync(file, 'utf8'), 10)
  if (written === majorVersion) return
  const about = `The database in ${folder} was written by PostgreSQL ${written}`
  throw new Error(
    written > majorVersion
      ? `${about}, newer than the ${majorVersion} of this version of Tollgate: start the newer version.`
      : `${about}, and this version of Tollgate brings ${majorVersion}: dump it with the older version and restore it into a new folder.`,
  )
}

export function readPassword({ password, folder }: Place): string {
  try {
    return readFileSync(password, 'utf8').trim()
  } catch (error) {
    throw new Error(`The file "password" of the database in ${folder} cannot be read.`, {
      cause: error,
    })
  }
}
