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
  /** Names what this process has taken over. No other process has it. */
  readonly id: string
  readonly folder: string
  readonly append: (record: CallRecord) => void
  readonly isWritten: () => boolean
  /** Resolves once a power loss does not take what was appended before. */
  readonly sync: () => Promise<void>
  /** The process stops: what is left stays where it is, for the next one. */
  readonly isStopping: () => boolean
}

export type Adopted = { records: number; damaged: number }

/**
 * Copies what processes that have ended did not deliver to the journal of this process, then deletes their folders. Each folder is
 * renamed first. So one process alone takes it over, and a process that was only paused notices it (`journal.ts`). A crash in
 * between leaves records twice: with the same keys, which ingest counts once.
 */
export async function adoptAbandoned(
  root: string,
  journal: AdoptingJournal,
  nowMs: number,
): Promise<Adopted> {
  const adopted: Adopted = { records: 0, damaged: 0 }
  for (const name of readdirSync(root)) {
    if (name === basename(journal.folder)) continue
    const folder = take(root, name, journal.id, nowMs)
    if (folder !== undefined) {
      await adoptFolder(folder, journal, adopted).catch(throwUnlessGone)
    }
  }
  return adopted
}

/** Leaves the folders that this process has taken over and not finished to whichever looks first. */
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

/** Returns the folder if it is this process's to adopt: taken over earlier, or abandoned and taken over now. */
function take(root: string, name: string, id: string, nowMs: number): string | undefined {
  const folder = join(root, name)
  if (name.startsWith(takenPrefix(id))) return folder
  if (!name.startsWith(folderPrefix) && !name.startsWith(adoptedPrefix)) return undefined
  if (!isAbandoned(folder, nowMs)) return undefined
  const taken = join(root, takenPrefix(id) + randomBytes(6).toString('hex'))
  try {
    renameSync(folder, taken)
    // A process that dies before this leaves a folder whose owner is as silent as before.
    claimFolder(taken)
    return taken
  } catch (error) {
    throwUnlessGone(error)
    return undefined
  }
}

/** Another process was faster, or took the folder over from this one, which must have been paused. */
function throwUnlessGone(error: unknown): void {
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
    // What could not be written yet is tried again by the next look, under the same keys.
    if (!journal.isWritten() || journal.isStopping()) return
    // The segment may have outlived a power loss already, and its copy must too.
    await journal.sync()
    unlinkSync(segmentPath(folder, segment))
  }
  rmSync(folder, { recursive: true, force: true })
}

/** Calls go on meanwhile: a journal may hold millions of records. */
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

/** A position that cannot be read, as after a power loss, delivers everything again. */
function readPosition(folder: string): JournalPlace {
  try {
    return JSON.parse(readFileSync(positionPath(folder), 'utf8')) as JournalPlace
  } catch {
    return { segment: 0, offset: 0 }
  }
}
