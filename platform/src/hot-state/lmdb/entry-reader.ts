import type { LmdbStore } from '../../lmdb/environment.ts'
import type { EntryAddress, EntryView } from '../hot-state.ts'
import { decodeCounter } from './counter-format.ts'
import { hotKey, keySpaces, partitionPart, textPart } from './hot-keys.ts'

/** What does not change about an entry, its keys, and the text of the document as it was last seen. */
type KnownEntry = {
  readonly documentKey: Buffer
  readonly fenceKey: Buffer
  readonly counterKeys: Map<string, Buffer>
  bytes: Buffer | undefined
  text: string
}

const knownEntriesMax = 20_000
const knownSeriesMax = 100

/**
 * Reads entries for the request path. The store is asked each time; what is kept is the keys, and the document's text
 * for as long as the stored bytes are the same, because building keys and decoding text is what a read would mostly
 * consist of.
 */
export class EntryReader {
  readonly #store: LmdbStore
  readonly #known = new Map<string, KnownEntry>()

  constructor(store: LmdbStore) {
    this.#store = store
  }

  document(at: EntryAddress): string | undefined {
    return this.#documentOf(this.#entry(at))
  }

  /** Within one event-loop turn all reads see the same moment of the store. */
  view(at: EntryAddress, series: string): EntryView {
    const entry = this.#entry(at)
    const amounts = new Map<string, bigint>()
    const stored = this.#store.getBinary(counterKeyOf(entry, at, series))
    for (const [id, { scoped, unscoped }] of decodeCounter(stored && Buffer.from(stored))) {
      amounts.set(id, scoped + unscoped)
    }
    return {
      document: this.#documentOf(entry),
      amounts,
      appliedOffset: this.#store.getBinaryFast(entry.fenceKey)?.readUIntLE(0, 6) ?? 0,
    }
  }

  #documentOf(entry: KnownEntry): string | undefined {
    const bytes = this.#store.getBinaryFast(entry.documentKey)
    if (bytes === undefined) return undefined
    if (entry.bytes?.compare(bytes, 0, bytes.length) === 0) return entry.text
    // The buffer that lmdb answers with is used again at the next read.
    entry.bytes = Buffer.from(Uint8Array.prototype.slice.call(bytes, 0, bytes.length))
    entry.text = entry.bytes.toString('utf8')
    return entry.text
  }

  #entry(at: EntryAddress): KnownEntry {
    const { space, partition, subject, scope } = at
    // Lengths stand in front of what may hold any text.
    const name = `${partition}:${space.length}:${space}${scope.length}:${scope}${subject}`
    const known = this.#known.get(name)
    if (known !== undefined) return known
    if (this.#known.size >= knownEntriesMax) this.#known.clear()
    const part = partitionPart(space, partition)
    const entry: KnownEntry = {
      documentKey: hotKey(keySpaces.entry, part, textPart(subject), textPart(scope)),
      fenceKey: hotKey(keySpaces.fence, part),
      counterKeys: new Map(),
      bytes: undefined,
      text: '',
    }
    this.#known.set(name, entry)
    return entry
  }
}

function counterKeyOf(entry: KnownEntry, at: EntryAddress, series: string): Buffer {
  const known = entry.counterKeys.get(series)
  if (known !== undefined) return known
  const key = hotKey(
    keySpaces.counter,
    partitionPart(at.space, at.partition),
    textPart(at.subject),
    textPart(at.scope),
    textPart(series),
  )
  if (entry.counterKeys.size >= knownSeriesMax) entry.counterKeys.clear()
  entry.counterKeys.set(series, key)
  return key
}
