import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { hasEnded, startTimeOf } from '@tollgate/platform/processes/process-identity'

/* Which process a journal folder belongs to: a file in it, touched while the process lives. */

type Owner = {
  readonly host: string
  readonly pid: number
  /** Tells the process from a later one of the same number. */
  readonly startedAt: string | undefined
}

/**
 * A process on another host counts as ended after this long without a sign. One that was only paused notices that its folder is
 * gone, and goes on in another (`live-journal.ts`).
 */
const silentMsMax = 60_000

export const ownerTouchMs = 5_000

export function claimFolder(folder: string): void {
  const owner: Owner = {
    host: hostname(),
    pid: process.pid,
    startedAt: startTimeOf(process.pid),
  }
  writeFileSync(ownerPath(folder), JSON.stringify(owner), { mode: 0o600 })
}

/** Tells processes on other hosts that this one lives. Throws if the folder is gone. */
export function touchOwner(folder: string): void {
  const now = new Date()
  utimesSync(ownerPath(folder), now, now)
}

/** Leaves what is in the folder to whichever process looks first. */
export function releaseFolder(folder: string): void {
  const nobody: Owner = { host: '', pid: 0, startedAt: undefined }
  writeFileSync(ownerPath(folder), JSON.stringify(nobody), { mode: 0o600 })
}

/** Whether the process that wrote the folder has ended: nobody will deliver what is in it. */
export function isAbandoned(folder: string, nowMs: number): boolean {
  try {
    const { host, pid, startedAt } = JSON.parse(readFileSync(ownerPath(folder), 'utf8')) as Owner
    if (host === '') return true
    if (host !== hostname()) return isSilent(ownerPath(folder), nowMs)
    return hasEnded(pid) || startTimeOf(pid) !== startedAt
  } catch {
    // It died before it had said whose the folder is, or is about to say it.
    return isSilent(folder, nowMs)
  }
}

/** Another process may have taken the folder since it was listed. */
function isSilent(path: string, nowMs: number): boolean {
  const touchedMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs
  return touchedMs !== undefined && nowMs - touchedMs > silentMsMax
}

function ownerPath(folder: string): string {
  return join(folder, 'owner')
}
