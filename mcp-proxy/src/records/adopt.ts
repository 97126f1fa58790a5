import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync, unlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { CallRecord } from './call-record.ts'
import type { JournalPlace } from './journal-place.ts'
import { positionPath, readSegment, segmentPath } from './journal.ts'
import { claimFolder, isAbandoned, releaseFolder, touchOwner } from './owner.ts'

/** The journal of this process. */
export type AdoptingJournal = {
  /** Unique id of this process. It is part of the names of the folders that the process takes over. */
  readonly id: string
  readonly folder: string
  readonly append: (record: CallRecord) => void
  readonly isWritten: () => boolean
  /** Resolves when everything appended before is on disk and survives a power loss. */
  readonly sync: () => Promise<void>
  /** Whether the process is stopping. The remaining records then stay in their folders for the next process. */
  readonly isStopping: () => boolean
}

export type Adopted = { records: number; damaged: number }

/**
 * Copies undelivered records of ended processes to the journal of this process, then deletes their folders. Each folder is renamed
 * first. The rename lets only 1 process take it over, and lets a process that was only paused notice the loss (`journal.ts`). After
 * a crash in between, records exist twice. Their keys are the same, so ingest counts them once.
 */
export async function adoptAbandoned(
  root: string,
  journal: AdoptingJournal,
  nowMs: number,
): Promise<Adopted> {
  const adopted: Adopted = { records: 0, damaged: 0 }
  for (const name of readdirSync(root)) {
    if (name === basename(journal.folder)) continue
    const folder = claimAbandoned(root, name, journal.id, nowMs)
    if (folder !== undefined) {
      await adoptFolder(folder, journal, adopted).catch(ignoreMissing)
    }
  }
  return adopted
}

/** Releases the folders that this process has taken over but not finished, so that any process can take them over. */
export function releaseAdopted(root: string, id: string): void {
  for (const name of readdirSync(root)) {
    if (name.startsWith(takenPrefix(id))) releaseFolder(join(root, name))
  }
}

const folderPrefix = 'journal-'
const adoptedPrefix = 'adopted-'

export function journalFolderName(id: string): string {
  return `${folderPrefix}${id}`
}

function takenPrefix(id: string): string {
  return `${adoptedPrefix}${id}.`
}

/**
 * Returns the path of the folder if this process may adopt it: it took the folder over earlier, or the folder is abandoned and is
 * taken over now.
 */
function claimAbandoned(root: string, name: string, id: string, nowMs: number): string | undefined {
  const folder = join(root, name)
  if (name.startsWith(takenPrefix(id))) return folder
  if (!name.startsWith(folderPrefix) && !name.startsWith(adoptedPrefix)) return undefined
  if (!isAbandoned(folder, nowMs)) return undefined
  const taken = join(root, takenPrefix(id) + randomBytes(6).toString('hex'))
  try {
    renameSync(folder, taken)
    // After a crash before this line, the folder still names its old owner, who still counts as ended.
    claimFolder(taken)
    return taken
  } catch (error) {
    ignoreMissing(error)
    return undefined
  }
}

/**
 * Ignores a missing folder. Another process took it over first, or took it over from this process while this process was paused.
 */
function ignoreMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
}

async function adoptFolder(
  folder: string,
  journal: AdoptingJournal,
  adopted: Adopted,
): Promise<void> {
  const position = readPosition(folder)
  for (const segment of segmentsOf(folder)) {
    touchOwner(folder)
    if (segment < position.segment) continue
    const offset = segment === position.segment ? position.offset : 0
    await adoptSegment(folder, { segment, offset }, journal, adopted)
    // If the copies could not be written, the next run tries again with the same keys.
    if (!journal.isWritten() || journal.isStopping()) return
    // The original may already be safe from a power loss, so the copy must be on disk before the original is deleted.
    await journal.sync()
    unlinkSync(segmentPath(folder, segment))
  }
  rmSync(folder, { recursive: true, force: true })
}

/** Copies a segment in steps, because it may contain millions of records and the process serves calls at the same time. */
async function adoptSegment(
  folder: string,
  from: JournalPlace,
  journal: AdoptingJournal,
  adopted: Adopted,
): Promise<void> {
  for (let place = from; ;) {
    const records = readSegment(segmentPath(folder, place.segment), place, undefined)
    const last = records.at(-1)
    if (last === undefined || journal.isStopping()) return
    for (const { record } of records) {
      if (record === undefined) adopted.damaged++
      else {
        journal.append(record)
        adopted.records++
      }
    }
    place = last.next
    await setImmediate()
  }
}

function segmentsOf(folder: string): number[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.journal'))
    .map((name) => Number.parseInt(name, 10))
    .sort((one, other) => one - other)
}

/**
 * Returns the start of the journal if the position cannot be read, for example after a power loss. All records are then delivered
 * again.
 */
function readPosition(folder: string): JournalPlace {
  try {
    return JSON.parse(readFileSync(positionPath(folder), 'utf8')) as JournalPlace
  } catch {
    return { segment: 0, offset: 0 }
  }
}
