import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { hasEnded, startTimeOf } from '@tollgate/platform/processes/process-identity'

/* The owner of a journal folder is stored in a file in it. The owner touches the file while it is alive. */

type Owner = {
  readonly host: string
  readonly pid: number
  /** Distinguishes the process from a later one with the same process id. */
  readonly startedAt: string | undefined
}

/**
 * Milliseconds without a touch after which a process on another host counts as ended. A process that was only paused notices that
 * its folder is gone, and continues in another one (`live-journal.ts`).
 */
const silenceMsMax = 60_000

export const ownerTouchMs = 5_000

export function claimFolder(folder: string): void {
  const owner: Owner = {
    host: hostname(),
    pid: process.pid,
    startedAt: startTimeOf(process.pid),
  }
  writeFileSync(ownerPath(folder), JSON.stringify(owner), { mode: 0o600 })
}

/** Shows processes on other hosts that this process is alive. Throws if the folder is gone. */
export function touchOwner(folder: string): void {
  const now = new Date()
  utimesSync(ownerPath(folder), now, now)
}

/** Releases the folder, so that any process can take it over. */
export function releaseFolder(folder: string): void {
  const nobody: Owner = { host: '', pid: 0, startedAt: undefined }
  writeFileSync(ownerPath(folder), JSON.stringify(nobody), { mode: 0o600 })
}

/** Returns whether the process that wrote the folder has ended, so that it will not deliver the records. */
export function isAbandoned(folder: string, nowMs: number): boolean {
  try {
    const { host, pid, startedAt } = JSON.parse(readFileSync(ownerPath(folder), 'utf8')) as Owner
    if (host === '') return true
    if (host !== hostname()) return isSilent(ownerPath(folder), nowMs)
    return hasEnded(pid) || startTimeOf(pid) !== startedAt
  } catch {
    // The owner file is missing: the process died before it wrote the file, or is about to write it.
    return isSilent(folder, nowMs)
  }
}

/**
 * Returns whether a path was not touched for too long. Returns false if another process has taken the folder since it was listed.
 */
function isSilent(path: string, nowMs: number): boolean {
  const touchedMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs
  return touchedMs !== undefined && nowMs - touchedMs > silenceMsMax
}

function ownerPath(folder: string): string {
  return join(folder, 'owner')
}
