import type { LmdbStore } from '../../lmdb/environment.ts'
import type { EntryAddress, EntryView } from '../hot-state.ts'
import { decodeCounter, isAside } from './counter-format.ts'
import { readEntriesVersion } from './entries-version.ts'
import { hotKey, keySpaces, partitionPart, textPart } from './hot-keys.ts'
import { countsPart, headKey, readCountsInUse } from './partition-head.ts'
import type { TurnSnapshot } from './turn-snapshot.ts'

/**
 * Cached data of an entry: its keys, the keys of its counters in the counts in use, and its document as of a version of all
 * entries.
 */
type KnownEntry = {
  readonly documentKey: Buffer
  readonly headKey: Buffer
  readonly counterKeys: Map<string, Buffer>
  counts: number
  version: number
  document: string | undefined
  bytes: Buffer | undefined
}

/** Cached entries by scope, then by subject. */
type KnownEntries = Map<string, Map<string, KnownEntry>>

const knownEntriesMax = 20_000
const knownSeriesMax = 100
const noVersion = -1

/**
 * Reads entries for requests. Counters and the head are always read from the store. Keys are cached, and each document for as long
 * as the version of all entries is unchanged, which is checked once per turn of the event loop.
 */
export class EntryReader {
  readonly #store: LmdbStore
  readonly #turn: TurnSnapshot
  readonly #known = new Map<string, KnownEntries[]>()
  #knownTotal = 0
  #versionTurn = -1
  #version = noVersion

  constructor(store: LmdbStore, turn: TurnSnapshot) {
    this.#store = store
    this.#turn = turn
  }

  document(at: EntryAddress): string | undefined {
    return this.#documentOf(this.#entry(at))
  }

  view(at: EntryAddress, series: string): EntryView {
    const entry = this.#entry(at)
    const document = this.#documentOf(entry)
    const { fence, inUse } = readCountsInUse(this.#store.getBinaryFast(entry.headKey))
    const stored = this.#store.getBinary(counterKeyOf(entry, at, inUse, series))
    const amounts = new Map<string, bigint>()
    for (const [id, { scoped, unscoped }] of decodeCounter(stored && Buffer.from(stored))) {
      if (!isAside(id)) amounts.set(id, scoped + unscoped)
    }
    return { document, amounts, appliedOffset: fence }
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
    documentKey: hotKey(keySpaces.entry, part, textPart(at.subject), textPart(at.scope)),
    headKey: headKey(part),
    counterKeys: new Map(),
    counts: 0,
    version: noVersion,
    document: undefined,
    bytes: undefined,
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
