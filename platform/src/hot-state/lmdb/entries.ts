import type { LmdbStore } from '../../lmdb/environment.ts'
import type { Entry, EntryAddress } from '../hot-state.ts'
import { raiseEntriesVersion } from './entries-version.ts'
import { foldSlots } from './fold-slots.ts'
import { hotKey, keySpaces, partitionPart, textPart, timePart } from './hot-keys.ts'
import { countsPart, namedCounts, readHead } from './partition-head.ts'
import type { SubjectRecords } from './subject-record.ts'

type Place = {
  readonly partition: Buffer
  readonly subject: Buffer
  readonly scope: Buffer
  readonly entryKey: Buffer
  readonly subjectKey: Buffer
}

/** Call inside a write transaction. */
export function putEntry(
  store: LmdbStore,
  subjects: SubjectRecords,
  at: EntryAddress,
  entry: Entry,
): void {
  const place = placeOf(at)
  const record = new Map(subjects.read(place.subjectKey))
  const stored = record.get(at.scope)
  if (stored !== undefined && entry.version < stored.version) return
  const windowsBefore = stored?.windows ?? []
  const { partition, subject } = place
  const published = { subject, scope: at.scope, windowsBefore, windows: entry.windows }
  for (const counts of namedCounts(readHead(store, partition))) {
    foldSlots(store, { ...published, counts: countsPart(partition, counts) })
  }
  record.set(at.scope, { version: entry.version, windows: entry.windows })
  subjects.write(place.subjectKey, record)
  store.putSync(place.entryKey, Buffer.from(entry.document))
  raiseEntriesVersion(store)
  for (const window of entry.windows) {
    if (windowsBefore.some((old) => old.id === window.id && old.toSecond === window.toSecond))
      continue
    const end = timePart(window.toSecond)
    const key = hotKey(
      keySpaces.windowEnd,
      partition,
      end,
      subject,
      place.scope,
      textPart(window.id),
    )
    store.putSync(key, Buffer.from(JSON.stringify([at.scope, window.id])))
  }
}

/** Call inside a write transaction. */
export function deleteEntry(store: LmdbStore, subjects: SubjectRecords, at: EntryAddress): void {
  const place = placeOf(at)
  const record = new Map(subjects.read(place.subjectKey))
  if (!record.delete(at.scope)) return
  subjects.write(place.subjectKey, record)
  store.removeSync(place.entryKey)
  raiseEntriesVersion(store)
}

function placeOf(at: EntryAddress): Place {
  const partition = partitionPart(at.space, at.partition)
  const subject = textPart(at.subject)
  const scope = textPart(at.scope)
  return {
    partition,
    subject,
    scope,
    entryKey: hotKey(keySpaces.entry, partition, subject, scope),
    subjectKey: hotKey(keySpaces.subject, partition, subject),
  }
}
