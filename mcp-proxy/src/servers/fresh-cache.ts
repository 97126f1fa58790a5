import { Recent } from '@tollgate/platform/memory/recent'
import type { Clock } from '@tollgate/platform/clock/clock'

type Entry<Value> = {
  readonly value: Value
  readonly readAt: number
}

export type FreshCacheOptions = {
  readonly clock: Clock
  /** Milliseconds after which a value is read again, while the old one is still returned. */
  readonly freshMs: number
  /** Milliseconds for which a value is returned that could not be read again. */
  readonly staleMaxMs: number
  readonly entriesMax: number
}

/** Milliseconds that a request waits for a value to be read again, where it has an old one to use. */
const patienceMs = 500
/** Milliseconds between two tries to read what could not be read. */
const retryMs = 200

/**
 * Values by key. One that was read before is returned at once; if it is older than `freshMs`, it is read again meanwhile, so
 * that no request waits for the database but the first one. A value that cannot be read again is used up to `staleMaxMs`.
 */
export class FreshCache<Value> {
  readonly #options: FreshCacheOptions
  readonly #read: (key: string) => Promise<Value>
  readonly #entries: Recent<Entry<Value>>
  readonly #reading = new Map<string, Promise<Value>>()
  /** When a read failed last, or took too long; undefined while reads succeed. */
  #failedAt: number | undefined

  constructor(options: FreshCacheOptions, read: (key: string) => Promise<Value>) {
    this.#options = options
    this.#entries = new Recent(options.entriesMax)
    this.#read = read
  }

  /** Whether a value of the key is kept, however old. */
  has(key: string): boolean {
    return this.#entries.get(key) !== undefined
  }

  /** Rejects with the reason of a read that failed, where no value is left to use. */
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
    // A key that nobody asked for is not read again, so that its value may be much older than the others.
    const isIdle = age >= 2 * freshMs
    return isIdle && this.#failedAt === undefined ? this.#within(reading, entry) : entry.value
  }

  /** Reads the key now, or waits for the reading that is under way. */
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

  /** Returns what is read, or the old value where that fails or takes long. */
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
