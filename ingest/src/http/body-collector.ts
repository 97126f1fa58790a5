import type { Answer, BodyLimits } from './http-front.ts'
import { bodyTooLarge, overloaded } from './answers.ts'

/** Bounds the bytes of unfinished bodies over all connections of one front. */
export class BodyBudget {
  #reserved = 0
  readonly #bytesMax: number

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get reserved(): number {
    return this.#reserved
  }

  reserve(bytes: number): boolean {
    if (this.#reserved + bytes > this.#bytesMax) return false
    this.#reserved += bytes
    return true
  }

  release(bytes: number): void {
    this.#reserved -= bytes
  }
}

const firstCapacityBytes = 4096

/**
 * Collects one body that arrives in several pieces. Once the body is refused, only counts its bytes. The buffer grows by doubling
 * and ignores the announced length: the announcement of a large body reserves no memory, and a body in one-byte pieces costs no
 * more than its size.
 */
export class BodyCollector {
  #buffer: Buffer | undefined
  #length = 0
  #received = 0
  #refusal: Answer | undefined
  readonly #announcedBytes: number
  readonly #limits: BodyLimits
  readonly #budget: BodyBudget

  constructor(limits: BodyLimits, budget: BodyBudget, announcedBytes: number) {
    this.#limits = limits
    this.#budget = budget
    this.#announcedBytes = Number.isNaN(announcedBytes) ? 0 : announcedBytes
    if (announcedBytes > limits.bodyBytesMax) this.refuse(bodyTooLarge(limits.bodyBytesMax))
  }

  get refusal(): Answer | undefined {
    return this.#refusal
  }

  /** True if the rest of a refused body is too long to be read before the response is sent. */
  get exceedsDiscardLimit(): boolean {
    const expectedBytes = Math.max(this.#received, this.#announcedBytes)
    return this.#refusal !== undefined && expectedBytes > this.#limits.discardedBytesMax
  }

  /** Discards the body. Further pieces are counted and not stored. */
  refuse(answer: Answer): void {
    this.#refusal = answer
    this.release()
  }

  /** Copies the piece, because its memory belongs to the socket. */
  add(piece: Uint8Array): void {
    this.#received += piece.byteLength
    if (this.#refusal !== undefined) return
    if (this.#received > this.#limits.bodyBytesMax) {
      return this.refuse(bodyTooLarge(this.#limits.bodyBytesMax))
    }
    const buffer = this.#withRoomFor(piece.byteLength)
    if (buffer === undefined) return this.refuse(overloaded)
    buffer.set(piece, this.#length)
    this.#length += piece.byteLength
  }

  bytes(): Buffer {
    return this.#buffer === undefined ? empty : this.#buffer.subarray(0, this.#length)
  }

  /** Releases the memory. Must be called once the body is no longer needed, and may be called twice. */
  release(): void {
    if (this.#buffer === undefined) return
    this.#budget.release(this.#buffer.byteLength)
    this.#buffer = undefined
    this.#length = 0
  }

  #withRoomFor(bytes: number): Buffer | undefined {
    const needed = this.#length + bytes
    const current = this.#buffer
    if (current !== undefined && needed <= current.byteLength) return current
    let capacity = current?.byteLength ?? firstCapacityBytes
    while (capacity < needed) capacity *= 2
    if (!this.#budget.reserve(capacity)) return undefined
    const grown = Buffer.allocUnsafeSlow(capacity)
    if (current !== undefined) {
      grown.set(current.subarray(0, this.#length))
      this.#budget.release(current.byteLength)
    }
    this.#buffer = grown
    return grown
  }
}

const empty = Buffer.alloc(0)
