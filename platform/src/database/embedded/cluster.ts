import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { PostgresBinaries } from './binaries.ts'
import type { Launcher } from './launcher.ts'

export type Place = {
  readonly folder: string
  readonly data: string
  readonly password: string
  readonly log: string
  readonly owner: string
  readonly libraries: string
}

/** One PostgreSQL data folder, with the programs and the account that run its server. */
export type Cluster = {
  readonly place: Place
  readonly binaries: PostgresBinaries
  readonly launcher: Launcher
  readonly isDurable: boolean
}

export type Launched = {
  readonly child: ChildProcess
  /** Returns what the program has written to the log since it was started. */
  readonly output: () => string
}

export const userName = 'tollgate'

const logBytesMax = 8 * 1024 * 1024
const outputCharsMax = 2000

export function placeIn(folder: string): Place {
  return {
    folder,
    data: join(folder, 'data'),
    password: join(folder, 'password'),
    log: join(folder, 'server.log'),
    owner: join(folder, 'owner.json'),
    libraries: join(folder, 'libraries'),
  }
}

/**
 * Starts a program of PostgreSQL. Its output goes to a file, because a server that outlives its parent would block on a pipe or
 * lose its messages.
 */
export function launch(cluster: Cluster, program: string, programArguments: string[]): Launched {
  const { place, launcher } = cluster
  const [command = program, ...rest] = [...launcher.prefix, program]
  const before = sizeOfLog(place.log)
  const libraries = `${place.libraries}:${cluster.binaries.libraryFolder}`
  const log = openSync(place.log, 'a', 0o600)
  try {
    const child = spawn(command, [...rest, ...programArguments], {
      cwd: place.folder,
      stdio: ['ignore', log, log],
      // A separate session, so that Ctrl-C in a terminal does not reach the server. The caller stops the server after its clients.
      detached: true,
      env: {
        LC_ALL: 'C',
        PATH: '/usr/local/bin:/usr/bin:/bin',
        LD_LIBRARY_PATH: libraries,
        DYLD_LIBRARY_PATH: libraries,
      },
      ...(launcher.uid === undefined ? {} : { uid: launcher.uid }),
      ...(launcher.gid === undefined ? {} : { gid: launcher.gid }),
    })
    return { child, output: () => logSince(place.log, before) }
  } finally {
    closeSync(log)
  }
}

/** Rotates a large log file. Call it only while no server runs, because the server keeps the file open. */
export function startNewLog(place: Place): void {
  if (sizeOfLog(place.log) > logBytesMax) renameSync(place.log, `${place.log}.1`)
}

function sizeOfLog(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

function logSince(file: string, offset: number): string {
  return readFileSync(file).subarray(offset).toString('utf8').trim().slice(-outputCharsMax)
}
