import { chownSync, existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createDatabase } from '../postgres/create-database.ts'
import { findPostgresBinaries, linkLibraries } from './binaries.ts'
import { placeIn, startNewLog, userName, type Cluster } from './cluster.ts'
import { initialize, readPassword, refuseOtherVersion } from './initialize.ts'
import { chooseLauncher } from './launcher.ts'
import { clearTheWay } from './postmaster.ts'
import { startServer } from './server-process.ts'

export type EmbeddedPostgresOptions = {
  readonly folder: string
  /** TCP port; 0 selects a free one. */
  readonly port: number
  /** False turns off fsync, so a power failure may lose the data. For tests. */
  readonly isDurable?: boolean
  /** Includes crash recovery, which replays the log since the last checkpoint. */
  readonly startTimeoutMs?: number
  readonly stopTimeoutMs?: number
}

export type EmbeddedPostgres = {
  readonly url: string
  /** Resolves when the server has exited, whether it was stopped or not. */
  readonly exited: Promise<void>
  /** Ends all sessions and shuts down cleanly. May be called twice. */
  readonly stop: () => Promise<void>
}

const databaseName = 'tollgate'

/**
 * Starts a PostgreSQL server on loopback with its data in the folder. A restart is enough after any crash: a server that is still
 * running is shut down, an incomplete folder is created again, and PostgreSQL recovers the data from its log.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const cluster = await prepare(resolve(options.folder), options.isDurable ?? true)
  const { place } = cluster
  if (existsSync(place.data)) await clearTheWay(place.data, place.owner)
  startNewLog(place)
  await linkLibraries(cluster.binaries, place.libraries)
  if (!existsSync(place.data)) await initialize(cluster)
  const password = readPassword(place)
  const server = await startServer(cluster, options.port, {
    startMs: options.startTimeoutMs ?? 120_000,
    stopMs: options.stopTimeoutMs ?? 30_000,
  })
  const address = `postgres://${userName}:${password}@127.0.0.1:${server.port}`
  try {
    // Created at every start, so that a crash between initdb and this step is repaired by the next start.
    await createDatabase(`${address}/postgres`, databaseName)
  } catch (error) {
    await server.stop()
    throw error
  }
  return { url: `${address}/${databaseName}`, exited: server.exited, stop: server.stop }
}

async function prepare(folder: string, isDurable: boolean): Promise<Cluster> {
  const place = placeIn(folder)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const binaries = await findPostgresBinaries()
  refuseOtherVersion(place, binaries.majorVersion)
  const launcher = chooseLauncher({ folder, dataFolder: place.data, postgres: binaries.postgres })
  if (launcher.uid !== undefined && launcher.gid !== undefined) {
    chownSync(folder, launcher.uid, launcher.gid)
  }
  return { place, binaries, launcher, isDurable }
}
