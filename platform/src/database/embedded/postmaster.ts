import { readFileSync, readlinkSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { exists, hasEnded, isZombie, startTimeOf } from '../../processes/process-identity.ts'

/** The process that started the server of a folder. The start time distinguishes it from a later process with the same id. */
type Owner = { readonly pid: number; readonly startTime: string | undefined }

export function writeOwner(file: string): void {
  const owner: Owner = { pid: process.pid, startTime: startTimeOf(process.pid) }
  writeFileSync(file, JSON.stringify(owner), { mode: 0o600 })
}

/**
 * Prepares the folder for a new server. A running server whose parent was killed is shut down. A running server whose parent lives
 * is an error. PostgreSQL handles a stale `postmaster.pid` by itself, unless its process id now belongs to another process or to a
 * zombie. Both are common in containers, and PostgreSQL would mistake them for a server, so the file is removed.
 */
export async function clearTheWay(dataFolder: string, ownerFile: string): Promise<void> {
  const pidFile = join(dataFolder, 'postmaster.pid')
  const pid = readStatus(dataFolder)?.pid
  if (pid === undefined || !exists(pid)) return
  if (isZombie(pid) || !isPostmasterOf(pid, dataFolder)) {
    rmSync(pidFile, { force: true })
    return
  }
  const owner = livingOwner(ownerFile)
  if (owner !== undefined) {
    throw new Error(`The database folder ${dataFolder} is in use by process ${owner}.`)
  }
  for (const [signal, waitMs] of [
    ['SIGINT', 20_000],
    ['SIGQUIT', 10_000],
  ] as const) {
    process.kill(pid, signal)
    if (await exitsWithin(pid, waitMs)) return
  }
  throw new Error(`A PostgreSQL server (process ${pid}) holds ${dataFolder} and does not stop.`)
}

export type PostmasterStatus = { readonly pid: number; readonly isReady: boolean }

/** Reads the lock file of the server: line 1 is its process id, line 8 its state. */
export function readStatus(dataFolder: string): PostmasterStatus | undefined {
  try {
    const lines = readFileSync(join(dataFolder, 'postmaster.pid'), 'utf8').split('\n')
    const pid = Number(lines[0])
    if (!Number.isInteger(pid) || pid <= 0) return undefined
    return { pid, isReady: lines[7]?.trim() === 'ready' }
  } catch {
    return undefined
  }
}

function livingOwner(file: string): number | undefined {
  try {
    const owner = JSON.parse(readFileSync(file, 'utf8')) as Owner
    return !hasEnded(owner.pid) && startTimeOf(owner.pid) === owner.startTime
      ? owner.pid
      : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns whether the process is the server of this folder: its working directory is the data folder. Without /proc the answer is
 * true.
 */
function isPostmasterOf(pid: number, dataFolder: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(dataFolder)
  } catch {
    return process.platform !== 'linux'
  }
}

async function exitsWithin(pid: number, waitMs: number): Promise<boolean> {
  const end = Date.now() + waitMs
  while (!hasEnded(pid)) {
    if (Date.now() > end) return false
    await sleep(20)
  }
  return true
}
