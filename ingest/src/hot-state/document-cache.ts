import { UnavailableError } from '../domain/unavailable-error.ts'

export type DocumentCacheOptions<Value> = {
  /** Undefined: there is no such document. Rejects when that cannot be said, as while HotState makes up for a loss. */
  readonly load: (key: string) => Promise<Value | undefined>
  /** Asked where `load` rejects and nothing is known from a while ago. */
  readonly loadElsewhere?: (key: string) => Promise<Value | undefined>
  /** Milliseconds an answer is taken as it is, present or missing. */
  readonly freshMs: number
  /** Milliseconds an answer is kept in use while HotState cannot be read. */
  readonly staleMs: number
  readonly presentMax: number
  /** Counted apart, so that requests with made-up keys cannot push out real ones. */
  readonly missingMax: number
}

type Cached<Value> = {
  /** Undefined: there is no such document. */
  readonly value: Value | undefined
  readonly readAtMs: number
}

/** Published documents as they were at most `freshMs` ago. Readers that arrive together share one read. */
export class DocumentCache<Value> {
  readonly #options: DocumentCacheOptions<Value>
  readonly #present = new Map<string, Cached<Value>>()
  readonly #missing = new Map<string, Cached<Value>>()
  readonly #loading = new Map<string, Promise<Value | undefined>>()

  constructor(options: DocumentCacheOptions<Value>) {
    this.#options = options
  }

  /** What is known and fresh; undefined when nothing is. */
  peek(key: string): Cached<Value> | undefined {
    const cached = this.#present.get(key) ?? this.#missing.get(key)
    if (cached === undefined) return undefined
    return performance.now() - cached.readAtMs < this.#options.freshMs ? cached : undefined
  }

  /** Rejects with UnavailableError when it cannot be read anywhere and nothing is known from a while ago. */
  find(key: string): Promise<Value | undefined> {
    const cached = this.peek(key)
    return cached === undefined ? this.reread(key) : Promise.resolve(cached.value)
  }

  /** As `find`, but whatever is known is too old. */
  reread(key: string): Promise<Value | undefined> {
    const loading = this.#loading.get(key)
    if (loading !== undefined) return loading
    const load = this.#load(key).finally(() => this.#loading.delete(key))
    this.#loading.set(key, load)
    return load
  }

  async #load(key: string): Promise<Value | undefined> {
    const readAtMs = performance.now()
    let value: Value | undefined
    try {
      value = await this.#options.load(key)
    } catch (cause) {
      const cached = this.#present.get(key)
      if (cached !== undefined && readAtMs - cached.readAtMs < this.#options.staleMs) {
        return cached.value
      }
      value = await this.#loadElsewhere(key, cause)
    }
    this.#remember(key, { value, readAtMs })
    return value
  }

  async #loadElsewhere(key: string, cause: unknown): Promise<Value | undefined> {
    const { loadElsewhere } = this.#options
    try {
      if (loadElsewhere !== undefined) return await loadElsewhere(key)
    } catch {
      // What keeps the first place from answering is the better reason.
    }
    throw new UnavailableError('Published settings cannot be read now, try again', { cause })
  }

  #remember(key: string, cached: Cached<Value>): void {
    const isPresent = cached.value !== undefined
    const [into, outOf] = isPresent
      ? [this.#present, this.#missing]
      : [this.#missing, this.#present]
    const sizeMax = isPresent ? this.#options.presentMax : this.#options.missingMax
    outOf.delete(key)
    into.delete(key)
    if (into.size >= sizeMax) {
      const oldest = into.keys().next()
      if (oldest.done !== true) into.delete(oldest.value)
    }
    into.set(key, cached)
  }
}
