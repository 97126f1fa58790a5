import { Recent } from '@tollgate/platform/memory/recent'
import type { Clock } from '@tollgate/platform/clock/clock'

type Entry<Value> = {
  readonly value: Value
  readonly readAt: number
}

export type FreshCacheOptions = {
  readonly clock: Clock
  /** Milliseconds after which a value is read again. The old value is returned meanwhile. */
  readonly freshMs: number
  /** Maximum age in milliseconds of a value that is returned although it could not be read again. */
  readonly staleMaxMs: number
  readonly entriesMax: number
}

/** Milliseconds that a request waits for a new read if an old value is available. */
const patienceMs = 500
/** Milliseconds between two attempts after a failed read. */
const retryMs = 200

/**
 * Caches values by key. A cached value is returned immediately. If it is older than `freshMs`, it is read again in the background,
 * so that only the first request for a key waits for the database. If a read fails, the old value is used up to `staleMaxMs`.
 */
export class FreshCache<Value> {
  readonly #options: FreshCacheOptions
  readonly #read: (key: string) => Promise<Value>
  readonly #entries: Recent<Entry<Value>>
  readonly #reading = new Map<string, Promise<Value>>()
  /** Time of the last read that failed or took too long. Undefined while reads succeed. */
  #failedAt: number | undefined

  constructor(options: FreshCacheOptions, read: (key: string) => Promise<Value>) {
    this.#options = options
    this.#entries = new Recent(options.entriesMax)
    this.#read = read
  }

  /** Returns whether the cache has a value for the key, of any age. */
  has(key: string): boolean {
    return this.#entries.get(key) !== undefined
  }

  /** Returns the value of a key. Rejects with the error of the failed read if no usable value is cached. */
  async get(key: string): Promise<Value> {
    const { clock, freshMs, staleMaxMs } = this.#options
    const entry = this.#entries.get(key)
    if (entry === undefined) return this.refresh(key)
    const now = clock.now()
    const age = now - entry.readAt
    if (age < freshMs) return entry.value
    if (age >= staleMaxMs) return this.refresh(key)
    if (this.#failedAt !== undefined && now - this.#failedAt < retryMs) return entry.value
    const reading = this.refresh(key)
    reading.catch(() => undefined)
    // A key that was not requested recently was not read again either, so its value may be much older than `freshMs`.
    const isIdle = age >= 2 * freshMs
    return isIdle && this.#failedAt === undefined ? this.#within(reading, entry) : entry.value
  }

  /** Reads the key now, or waits for a read that is already in progress. */
  refresh(key: string): Promise<Value> {
    const found = this.#reading.get(key)
    if (found !== undefined) return found
    const reading = this.#readNow(key).finally(() => this.#reading.delete(key))
    this.#reading.set(key, reading)
    return reading
  }

  async #readNow(key: string): Promise<Value> {
    const readAt = this.#options.clock.now()
    const value = await this.#read(key).catch((error: unknown) => {
      this.#failedAt = this.#options.clock.now()
      throw error
    })
    this.#failedAt = undefined
    this.#entries.set(key, { value, readAt })
    return value
  }

  /** Returns the new value, or the old one if the read fails or takes too long. */
  async #within(reading: Promise<Value>, { value: old }: Entry<Value>): Promise<Value> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<Value>((resolve) => {
      timer = setTimeout(() => {
        this.#failedAt = this.#options.clock.now()
        resolve(old)
      }, patienceMs)
    })
    const value = await Promise.race([reading.catch(() => old), late])
    clearTimeout(timer)
    return value
  }
}
