import { readdirSync, readFileSync, rmSync, unlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { CallRecord } from './call-record.ts'
import type { JournalPlace } from './journal.ts'
import { positionPath, readSegment, segmentPath } from './journal.ts'
import { isAbandoned } from './owner.ts'

/** The journal of this process. */
export type AdoptingJournal = {
  readonly folder: string
  readonly append: (record: CallRecord) => void
  readonly isWritten: () => boolean
  /** The process stops: what is left stays where it is, for the next one. */
  readonly isStopping: () => boolean
}

export type Adopted = { records: number; damaged: number }

/**
 * Copies what processes that have ended did not deliver to the journal of this process, then deletes their folders. A crash in
 * between, or two processes that do it at once, leave records twice: with the same keys, which ingest counts once.
 */
export async function adoptAbandoned(
  root: string,
  journal: AdoptingJournal,
  nowMs: number,
): Promise<Adopted> {
  const adopted: Adopted = { records: 0, damaged: 0 }
  for (const name of readdirSync(root)) {
    const folder = join(root, name)
    if (name === basename(journal.folder) || !isJournalFolder(name)) continue
    if (isAbandoned(folder, nowMs)) await adoptFolder(folder, journal, adopted)
  }
  return adopted
}

const folderPrefix = 'journal-'

export function journalFolderName(id: string): string {
  return `${folderPrefix}${id}`
}

function isJournalFolder(name: string): boolean {
  return name.startsWith(folderPrefix)
}

async function adoptFolder(
  folder: string,
  journal: AdoptingJournal,
  adopted: Adopted,
): Promise<void> {
  const position = readPosition(folder)
  for (const segment of segmentsOf(folder)) {
    if (segment < position.segment) continue
    const offset = segment === position.segment ? position.offset : 0
    await adoptSegment(folder, { segment, offset }, journal, adopted)
    // What could not be written yet is tried again by the next look, under the same keys.
    if (!journal.isWritten() || journal.isStopping()) return
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
