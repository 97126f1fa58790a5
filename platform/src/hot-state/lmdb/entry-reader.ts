import type { LmdbStore } from '../../lmdb/lmdb-store.ts'
import type { BucketAmounts } from '../buckets.ts'
import type { EntryAddress, EntrySeriesView, EntryView, SeriesView } from '../hot-state.ts'
import type { StoredForm } from './bucket-forms.ts'
import { bucketKey, decodeBuckets } from './bucket-list.ts'
import { decodeCounter, isAside } from './counter-format.ts'
import { readEntriesVersion } from './entries-version.ts'
import { hotKey, keySpaces, partitionPart, textPart } from './hot-keys.ts'
import { countsPart, headKey, readCountsInUse } from './partition-head.ts'
import type { SubjectRecords } from './subject-record.ts'
import type { TurnSnapshot } from './turn-snapshot.ts'

/**
 * Cached data of an entry: its keys, the keys of its counters in the counts in use, and its document and bucket forms as of a
 * version of all entries.
 */
type KnownEntry = {
  readonly scope: string
  readonly documentKey: Buffer
  readonly subjectKey: Buffer
  readonly headKey: Buffer
  readonly counterKeys: Map<string, Buffer>
  counts: number
  version: number
  document: string | undefined
  bytes: Buffer | undefined
  /** The bucket forms that readers see, of the same version. */
  forms: readonly StoredForm[]
}

/** Cached entries by scope, then by subject. */
type KnownEntries = Map<string, Map<string, KnownEntry>>

const knownEntriesMax = 20_000
const knownSeriesMax = 100
const noVersion = -1
const noForms: readonly StoredForm[] = []

/**
 * Reads entries for requests. Counters and the head are always read from the store. Keys are cached, and each document for as long
 * as the version of all entries is unchanged, which is checked once per turn of the event loop.
 */
export class EntryReader {
  readonly #store: LmdbStore
  readonly #subjects: SubjectRecords
  readonly #turn: TurnSnapshot
  readonly #known = new Map<string, KnownEntries[]>()
  #knownTotal = 0
  #versionTurn = -1
  #version = noVersion

  constructor(store: LmdbStore, subjects: SubjectRecords, turn: TurnSnapshot) {
    this.#store = store
    this.#subjects = subjects
    this.#turn = turn
  }

  document(at: EntryAddress): string | undefined {
    return this.#documentOf(this.#entry(at))
  }

  view(at: EntryAddress, series: string): EntryView {
    const entry = this.#entry(at)
    const document = this.#documentOf(entry)
    const { fence, inUse } = readCountsInUse(this.#store.getBinaryFast(entry.headKey))
    const amounts = this.#amounts(entry, at, inUse, series)
    const view = { document, amounts, appliedOffset: fence }
    const buckets = this.#buckets(entry.forms, at, inUse, series)
    return buckets === undefined ? view : { ...view, buckets }
  }

  seriesView(at: EntryAddress, names: readonly string[]): EntrySeriesView {
    const entry = this.#entry(at)
    const document = this.#documentOf(entry)
    const { fence, inUse } = readCountsInUse(this.#store.getBinaryFast(entry.headKey))
    const series = new Map<string, SeriesView>()
    for (const name of names) {
      const amounts = this.#amounts(entry, at, inUse, name)
      const buckets = this.#buckets(entry.forms, at, inUse, name)
      series.set(name, buckets === undefined ? { amounts } : { amounts, buckets })
    }
    return { document, series, appliedOffset: fence }
  }

  #amounts(
    entry: KnownEntry,
    at: EntryAddress,
    counts: number,
    series: string,
  ): Map<string, bigint> {
    const stored = this.#store.getBinary(counterKeyOf(entry, at, counts, series))
    const amounts = new Map<string, bigint>()
    for (const [id, { scoped, unscoped }] of decodeCounter(stored && Buffer.from(stored))) {
      if (!isAside(id)) amounts.set(id, scoped + unscoped)
    }
    return amounts
  }

  /** Returns the buckets of the listed forms, or undefined if there are none. */
  #buckets(
    forms: readonly StoredForm[],
    at: EntryAddress,
    counts: number,
    series: string,
  ): BucketAmounts | undefined {
    if (forms.length === 0) return undefined
    const buckets = new Map<string, ReadonlyMap<number, bigint>>()
    const countsOf = countsPart(partitionPart(at.space, at.partition), counts)
    const names = [at.subject, at.scope, series].map(textPart) as [Buffer, Buffer, Buffer]
    for (const { name, ids } of forms) {
      const stored = this.#store.getBinary(bucketKey(countsOf, ...names, name))
      if (stored === undefined) continue
      const amounts = decodeBuckets(Buffer.from(stored))
      for (const id of ids) buckets.set(id, amounts)
    }
    return buckets.size === 0 ? undefined : buckets
  }

  #documentOf(entry: KnownEntry): string | undefined {
    const version = this.#entriesVersion()
    if (entry.version === version) return entry.document
    const bytes = this.#store.getBinaryFast(entry.documentKey)
    if (bytes === undefined) {
      entry.bytes = undefined
      entry.document = undefined
    } else if (entry.bytes?.compare(bytes, 0, bytes.length) !== 0) {
      // lmdb reuses the returned buffer for the next read.
      entry.bytes = Buffer.from(Uint8Array.prototype.slice.call(bytes, 0, bytes.length))
      entry.document = entry.bytes.toString('utf8')
    }
    const record = this.#subjects.read(entry.subjectKey)
    entry.forms = record.get(entry.scope)?.forms.filter(({ ids }) => ids.length > 0) ?? noForms
    // Set last, so that a failed read does not count as an empty entry.
    entry.version = version
    return entry.document
  }

  #entriesVersion(): number {
    const turn = this.#turn.begin()
    if (this.#versionTurn !== turn) {
      this.#version = readEntriesVersion(this.#store)
      this.#versionTurn = turn
    }
    return this.#version
  }

  #entry(at: EntryAddress): KnownEntry {
    let partitions = this.#known.get(at.space)
    if (partitions === undefined) this.#known.set(at.space, (partitions = []))
    const scopes = (partitions[at.partition] ??= new Map<string, Map<string, KnownEntry>>())
    let subjects = scopes.get(at.scope)
    if (subjects === undefined) scopes.set(at.scope, (subjects = new Map<string, KnownEntry>()))
    const known = subjects.get(at.subject)
    if (known !== undefined) return known
    const entry = newEntry(at)
    subjects.set(at.subject, entry)
    this.#knownTotal += 1
    // Cheaper than maintaining an order. The cache is refilled by one read of each customer.
    if (this.#knownTotal > knownEntriesMax) {
      this.#known.clear()
      this.#knownTotal = 0
    }
    return entry
  }
}

function newEntry(at: EntryAddress): KnownEntry {
  const part = partitionPart(at.space, at.partition)
  return {
    scope: at.scope,
    subjectKey: hotKey(keySpaces.subject, part, textPart(at.subject)),
    documentKey: hotKey(keySpaces.entry, part, textPart(at.subject), textPart(at.scope)),
    headKey: headKey(part),
    counterKeys: new Map(),
    counts: 0,
    version: noVersion,
    document: undefined,
    bytes: undefined,
    forms: noForms,
  }
}

function counterKeyOf(entry: KnownEntry, at: EntryAddress, counts: number, series: string): Buffer {
  if (entry.counts !== counts) {
    entry.counterKeys.clear()
    entry.counts = counts
  }
  const known = entry.counterKeys.get(series)
  if (known !== undefined) return known
  const key = hotKey(
    keySpaces.counter,
    countsPart(partitionPart(at.space, at.partition), counts),
    textPart(at.subject),
    textPart(at.scope),
    textPart(series),
  )
  if (entry.counterKeys.size >= knownSeriesMax) entry.counterKeys.clear()
  entry.counterKeys.set(series, key)
  return key
}
