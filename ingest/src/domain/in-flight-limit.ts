import { UnavailableError } from './unavailable-error.ts'

/** Bounds the work in progress, in number and in bytes. */
export class InFlightLimit {
  #count = 0
  #bytes = 0
  readonly #countMax: number
  readonly #bytesMax: number

  constructor(limits: { readonly countMax: number; readonly bytesMax: number }) {
    this.#countMax = limits.countMax
    this.#bytesMax = limits.bytesMax
  }

  get count(): number {
    return this.#count
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Adds work in progress. Throws UnavailableError without adding it if a bound would be exceeded. */
  enter(count: number, bytes: number): void {
    if (this.#count + count > this.#countMax || this.#bytes + bytes > this.#bytesMax) {
      throw new UnavailableError('Too many requests are in flight, try again', {
        code: 'overloaded',
      })
    }
    this.#count += count
    this.#bytes += bytes
  }

  leave(count: number, bytes: number): void {
    this.#count -= count
    this.#bytes -= bytes
  }
}
