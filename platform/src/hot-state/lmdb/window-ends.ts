import type { LmdbStore } from '../../lmdb/lmdb-store.ts'
import type { Window } from '../hot-state.ts'
import {
  hotKey,
  keySpaces,
  readTimePart,
  textPart,
  textPartBytes,
  timePart,
  timePartBytes,
} from './hot-keys.ts'
import type { StoredForm } from './bucket-forms.ts'
import type { ScopeRecord } from './subject-record.ts'

/*
 * An index of window ends by time, with which the sweep finds ended windows. It has the first window of an entry to end, and the
 * next one when that is swept. A withdrawn window is in no list, so it has its own index entry. Additional index entries are
 * harmless: states of earlier releases have one for each window.
 */

/** Stands for withdrawn bucket forms in the index. No window has such an id. */
const formsId = '\0forms'

export type EntryPlace = {
  readonly partition: Buffer
  readonly subject: Buffer
  readonly scope: string
}

export type EndIndexEntry = EntryPlace & {
  readonly key: Buffer
  readonly id: string
  readonly toSecond: number
}

/**
 * Updates the index for an entry that had the windows of `stored` and now has `windows`. During an unfinished publication the
 * listed windows end too early, so their index entries are not compared.
 */
export function indexEnds(
  store: LmdbStore,
  place: EntryPlace,
  stored: ScopeRecord | undefined,
  windows: readonly Window[],
): void {
  const before = stored?.windows ?? []
  for (const window of before) {
    if (!windows.some(({ id }) => id === window.id)) indexEnd(store, place, window)
  }
  const first = firstToEnd(windows)
  const noted = stored?.isUnfinished === false ? firstToEnd(before) : undefined
  if (first === undefined) return
  if (first.id !== noted?.id || first.toSecond !== noted.toSecond) indexEnd(store, place, first)
}

/** Indexes since when forms are withdrawn, so that the sweep forgets them as it does windows. */
export function indexWithdrawnForms(
  store: LmdbStore,
  place: EntryPlace,
  forms: readonly StoredForm[],
): void {
  for (const { withdrawnAtSecond: toSecond } of forms) {
    if (toSecond > 0) indexEnd(store, place, { id: formsId, toSecond })
  }
}

export function indexFirstEnd(
  store: LmdbStore,
  place: EntryPlace,
  windows: readonly Window[],
): void {
  const first = firstToEnd(windows)
  if (first !== undefined) indexEnd(store, place, first)
}

/** Returns the earliest index entry of the partition before that second. */
export function findEnded(
  store: LmdbStore,
  partition: Buffer,
  beforeSecond: number,
): EndIndexEntry | undefined {
  const prefix = hotKey(keySpaces.windowEnd, partition)
  const end = Buffer.concat([prefix, timePart(beforeSecond)])
  const subjectAt = prefix.length + timePartBytes
  for (const found of store.getRange({ start: prefix, end, limit: 1 })) {
    // Copied, because the caller changes what it has read.
    const key = Buffer.from(found.key)
    const [scope, id] = JSON.parse(found.value.toString('utf8')) as [string, string]
    const subject = key.subarray(subjectAt, subjectAt + textPartBytes(key, subjectAt))
    return { partition, subject, scope, key, id, toSecond: readTimePart(key, prefix.length) }
  }
  return undefined
}

function indexEnd(
  store: LmdbStore,
  { partition, subject, scope }: EntryPlace,
  { id, toSecond }: Pick<Window, 'id' | 'toSecond'>,
): void {
  const end = timePart(toSecond)
  const key = hotKey(keySpaces.windowEnd, partition, end, subject, textPart(scope), textPart(id))
  store.putSync(key, Buffer.from(JSON.stringify([scope, id])))
}

function firstToEnd(windows: readonly Window[]): Window | undefined {
  let first = windows[0]
  for (const window of windows) if (window.toSecond < first!.toSecond) first = window
  return first
}
