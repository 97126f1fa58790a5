import type { EntryAddress } from '../../hot-state.ts'

/** Approximate memory of a cached document besides its texts, in characters. */
const documentChars = 100

/** The time of a read. Its answer is cached only if nothing that it may have read has been dropped since. */
export type ReadMoment = { readonly dropsOfPlace: number; readonly clears: number }

type Scopes = Map<string, string | null>

/**
 * Cached documents of the entries of one space, and entries known to be missing (null), by subject and scope. When half of the
 * memory is used, the documents that were not used since the last time are forgotten.
 */
export class EntryDocuments {
  readonly #charsMax: number
  #recent = new Map<string, Scopes>()
  #recentChars = 0
  #earlier = new Map<string, Scopes>()
  /** Number of drops in each partition. */
  readonly #drops = new Map<number, number>()
  #clears = 0

  /** `charsMax` bounds the characters of all documents and their names. */
  constructor(charsMax: number) {
    this.#charsMax = charsMax
  }

  /** Returns undefined if it is unknown whether the entry exists. */
  find(subject: string, scope: string): string | null | undefined {
    const document = this.#recent.get(subject)?.get(scope)
    if (document !== undefined) return document
    const earlier = this.#earlier.get(subject)?.get(scope)
    if (earlier !== undefined) this.#add(subject, scope, earlier)
    return earlier
  }

  /** Call this before a read whose answer is to be kept. */
  beginRead(partition: number): ReadMoment {
    return { dropsOfPlace: this.#drops.get(partition) ?? 0, clears: this.#clears }
  }

  keep(
    { dropsOfPlace, clears }: ReadMoment,
    { partition, subject, scope }: Pick<EntryAddress, 'partition' | 'subject' | 'scope'>,
    document: string | null,
  ): void {
    if (clears !== this.#clears || dropsOfPlace !== (this.#drops.get(partition) ?? 0)) return
    this.#add(subject, scope, document)
  }

  drop(partition: number, subjects: readonly string[]): void {
    this.#drops.set(partition, (this.#drops.get(partition) ?? 0) + 1)
    for (const subject of subjects) {
      this.#recent.delete(subject)
      this.#earlier.delete(subject)
    }
  }

  clear(): void {
    this.#clears += 1
    this.#recent.clear()
    this.#recentChars = 0
    this.#earlier.clear()
  }

  #add(subject: string, scope: string, document: string | null): void {
    const chars = documentChars + subject.length + scope.length + (document?.length ?? 0)
    if (this.#recentChars + chars > this.#charsMax / 2) {
      this.#earlier = this.#recent
      this.#recent = new Map()
      this.#recentChars = 0
    }
    this.#recentChars += chars
    const scopes = this.#recent.get(subject)
    if (scopes === undefined) this.#recent.set(subject, new Map([[scope, document]]))
    else scopes.set(scope, document)
  }
}
