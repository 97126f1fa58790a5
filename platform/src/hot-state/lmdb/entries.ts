import type { LmdbStore } from '../../lmdb/lmdb-store.ts'
import { endedWith } from '../ended-reservations.ts'
import type { Entry, EntryAddress, Window } from '../hot-state.ts'
import { takenIn } from '../taken-in.ts'
import { formsMeanwhile, publishedForms, withdrawn, type StoredForm } from './bucket-forms.ts'
import { fillBuckets } from './fill-buckets.ts'
import { addedTime, listedMeanwhile, type AddedTime } from './added-time.ts'
import { raiseEntriesVersion } from './entries-version.ts'
import { foldSlots, slotPlace } from './fold-slots.ts'
import { hotKey, keySpaces, partitionPart, textPart } from './hot-keys.ts'
import { countsPart, namedCounts, readPartitionHead } from './partition-head.ts'
import { settle } from './end-reservations.ts'
import { SeriesCounters } from './series-counters.ts'
import { frontierOf, type SlotPlace } from './slots-in-order.ts'
import { noVersion, type SubjectRecords } from './subject-record.ts'
import { indexEnds, indexWithdrawnForms } from './window-ends.ts'

type Place = {
  readonly partition: Buffer
  readonly subject: Buffer
  readonly scope: Buffer
  readonly entryKey: Buffer
  readonly subjectKey: Buffer
}

/**
 * Runs one step of a publication. Returns 'more' if the same call must be repeated. Call it inside a write transaction that
 * increments the version of all entries.
 *
 * Time is added to the windows in order, as far as its slots are folded: a window is listed up to the *frontier*, and usage after
 * it stays in slots. So after each step the counts are correct for the windows as listed, whether or not another step follows. The
 * last step replaces the document and withdraws windows.
 *
 * Slots are folded into the buckets of new specs before windows, because windows remove them.
 *
 * A window that was withdrawn and returns is counted again from the slots without a scope, while its previous amount is put aside.
 * In the end it keeps the larger of the two.
 */
export function putEntry(
  store: LmdbStore,
  subjects: SubjectRecords,
  at: EntryAddress,
  entry: Entry,
  foldedMinutesMax: number,
  nowMs: number,
): 'done' | 'more' {
  const place = placeOf(at)
  const { partition, subject, scope } = place
  const record = new Map(subjects.read(place.subjectKey))
  const stored = record.get(at.scope)
  if (stored !== undefined && entry.version < stored.version) return 'done'
  const counts = namedCounts(readPartitionHead(store, partition)).map((each) =>
    countsPart(partition, each),
  )
  const placesIn = (each: Buffer): SlotPlace[] => slotPlaces(each, subject, at.scope)
  const before = stored?.windows ?? []
  const nowSecond = Math.floor(nowMs / 1_000)
  const storedForms = stored?.forms ?? []
  const forms = fillBuckets(
    store,
    { counts, subject, scope, placesIn },
    publishedForms(storedForms, entry.buckets ?? [], nowSecond),
    foldedMinutesMax,
    nowSecond,
  )
  const unfinished = {
    version: stored?.version ?? noVersion,
    isUnfinished: true,
    forms: formsMeanwhile(storedForms, forms, nowSecond),
  }
  if (!forms.every(isFilled)) {
    record.set(at.scope, { ...unfinished, windows: before })
    subjects.write(place.subjectKey, record)
    return 'more'
  }
  const places = counts.flatMap(placesIn)
  const step = planStep(store, places, before, entry.windows, foldedMinutesMax)

  const newIds = step.windows.map(({ id }) => id).filter((id) => !isAmong(before, id))
  for (const each of counts) {
    const counters = new SeriesCounters(store, each, subject, scope)
    const isAnyAside = counters.putAside(newIds) || stored?.isUnfinished === true
    if (step.added !== undefined) foldSlots(store, each, subject, at.scope, step.added, counters)
    if (step.isLast && (counters.takeIn(takenIn(entry)) || isAnyAside)) {
      counters.compareWithAside(step.windows.map(({ id }) => id))
    }
    counters.write()
  }

  const { windows } = step
  if (!step.isLast) {
    record.set(at.scope, { ...unfinished, windows })
    subjects.write(place.subjectKey, record)
    return 'more'
  }
  record.set(at.scope, { version: entry.version, windows, isUnfinished: false, forms })
  subjects.write(place.subjectKey, record)
  store.putSync(place.entryKey, Buffer.from(entry.document))
  settle(store, at, endedWith(at, entry), nowMs)
  indexEnds(store, { partition, subject, scope: at.scope }, stored, windows)
  indexWithdrawnForms(store, { partition, subject, scope: at.scope }, forms)
  return 'done'
}

/** Returns whether all slots are folded into the form, or none of them have to be because no spec lists it. */
function isFilled({ ids, filledTo }: StoredForm): boolean {
  return ids.length === 0 || filledTo === Infinity
}

type Step = {
  /** The windows as listed after the step. */
  readonly windows: readonly Window[]
  readonly added: AddedTime | undefined
  readonly isLast: boolean
}

function planStep(
  store: LmdbStore,
  places: readonly SlotPlace[],
  before: readonly Window[],
  windows: readonly Window[],
  foldedMinutesMax: number,
): Step {
  const added = addedTime(before, windows)
  if (added === undefined) return { windows, added, isLast: true }
  const { fromSecond, toSecond } = added
  const frontier = frontierOf(store, places, fromSecond, toSecond, foldedMinutesMax)
  if (frontier === toSecond) return { windows, added, isLast: true }
  return {
    windows: listedMeanwhile(before, added, frontier),
    added: { ...added, toSecond: frontier },
    isLast: false,
  }
}

/** Returns the places of an entry's slots: without a scope, and with its own scope. */
function slotPlaces(counts: Buffer, subject: Buffer, scope: string): SlotPlace[] {
  const unscoped = slotPlace(counts, subject, '')
  return scope === '' ? [unscoped] : [unscoped, slotPlace(counts, subject, scope)]
}

function isAmong(windows: readonly Window[], id: string): boolean {
  return windows.some((window) => window.id === id)
}

/** Deletes an entry. Call it inside a write transaction. */
export function deleteEntry(store: LmdbStore, subjects: SubjectRecords, at: EntryAddress): void {
  const place = placeOf(at)
  const record = new Map(subjects.read(place.subjectKey))
  const stored = record.get(at.scope)
  if (stored === undefined) return
  const nowSecond = Math.floor(Date.now() / 1_000)
  const forms = stored.forms.map((form) => withdrawn(form, nowSecond))
  record.delete(at.scope)
  if (forms.length > 0) {
    record.set(at.scope, { version: noVersion, windows: [], isUnfinished: false, forms })
  }
  subjects.write(place.subjectKey, record)
  const { partition, subject } = place
  indexEnds(store, { partition, subject, scope: at.scope }, stored, [])
  indexWithdrawnForms(store, { partition, subject, scope: at.scope }, forms)
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
