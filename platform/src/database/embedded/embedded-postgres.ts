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
  /** 0 takes a free one. */
  readonly port: number
  /** False gives up the data in a power cut for speed: for tests. */
  readonly isDurable?: boolean
  /** Covers crash recovery, which replays what came after the last checkpoint. */
  readonly startTimeoutMs?: number
  readonly stopTimeoutMs?: number
}

export type EmbeddedPostgres = {
  readonly url: string
  /** Resolves when the server is gone, asked to or not. */
  readonly exited: Promise<void>
  /** Ends sessions and shuts down cleanly. Safe to call twice. */
  readonly stop: () => Promise<void>
}

const databaseName = 'tollgate'

/**
 * A real PostgreSQL of our own, on loopback, with its data in the folder. Whatever state a crash left the folder in,
 * starting again is all that is needed: a server that survived is shut down, an unfinished folder is made anew, and
 * PostgreSQL recovers the rest from its log.
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
    // Not with initdb, so that a crash between the two is made up for at the next start.
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
