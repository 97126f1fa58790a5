import { Recent } from '@tollgate/platform/memory/recent'
import { UnavailableError } from '../domain/unavailable-error.ts'

export type DocumentCacheOptions<Value> = {
  /**
   * Resolves with undefined if there is no such document. Rejects if that is uncertain, for example while a hot state that lost its
   * data is being restored.
   */
  readonly load: (key: string) => Promise<Value | undefined>
  /** Called if `load` rejects and no cached answer is recent enough. */
  readonly loadFallback?: (key: string) => Promise<Value | undefined>
  /** Milliseconds for which a cached answer is used without a read, whether the document exists or not. */
  readonly freshMs: number
  /** Milliseconds for which a cached document stays in use while the hot state cannot be read. */
  readonly staleMs: number
  readonly presentMax: number
  /** Bounds the cached misses separately, so that requests with invented keys cannot evict existing documents. */
  readonly missingMax: number
}

type Cached<Value> = {
  /** The value is undefined if there is no such document. */
  readonly value: Value | undefined
  readonly readAtMs: number
}

/** Caches published documents for `freshMs`. Concurrent reads of one key share one load. */
export class DocumentCache<Value> {
  readonly #options: DocumentCacheOptions<Value>
  readonly #present: Recent<Cached<Value>>
  readonly #missing: Recent<Cached<Value>>
  readonly #loading = new Map<string, Promise<Value | undefined>>()

  constructor(options: DocumentCacheOptions<Value>) {
    this.#options = options
    this.#present = new Recent(options.presentMax)
    this.#missing = new Recent(options.missingMax)
  }

  /** Returns the cached answer if it is fresh, otherwise undefined. */
  peek(key: string): Cached<Value> | undefined {
    const cached = this.#present.get(key) ?? this.#missing.get(key)
    if (cached === undefined) return undefined
    return performance.now() - cached.readAtMs < this.#options.freshMs ? cached : undefined
  }

  /** Rejects with UnavailableError if the document cannot be read and no cached answer is recent enough. */
  find(key: string): Promise<Value | undefined> {
    const cached = this.peek(key)
    return cached === undefined ? this.reread(key) : Promise.resolve(cached.value)
  }

  /** Works like `find`, but ignores a fresh cached answer. */
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
      value = await this.#loadFallback(key, cause)
    }
    this.#remember(key, { value, readAtMs })
    return value
  }

  async #loadFallback(key: string, cause: unknown): Promise<Value | undefined> {
    const { loadFallback } = this.#options
    try {
      if (loadFallback !== undefined) return await loadFallback(key)
    } catch {
      // The error of the first source explains the failure better.
    }
    throw new UnavailableError('Published settings cannot be read now, try again', { cause })
  }

  #remember(key: string, cached: Cached<Value>): void {
    const [into, outOf] =
      cached.value === undefined ? [this.#missing, this.#present] : [this.#present, this.#missing]
    outOf.delete(key)
    into.set(key, cached)
  }
}
