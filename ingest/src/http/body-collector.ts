import type { Answer, BodyLimits } from './http-front.ts'
import { bodyTooLarge, overloaded } from './answers.ts'

/** Bytes that unfinished bodies hold over all connections of one front. */
export class BodyBudget {
  #held = 0
  readonly #heldMax: number

  constructor(heldMax: number) {
    this.#heldMax = heldMax
  }

  get held(): number {
    return this.#held
  }

  take(bytes: number): boolean {
    if (this.#held + bytes > this.#heldMax) return false
    this.#held += bytes
    return true
  }

  give(bytes: number): void {
    this.#held -= bytes
  }
}

const firstCapacityBytes = 4096

/**
 * Gathers one body that comes in several pieces, or only counts it once it has been refused. The buffer grows by
 * doubling, whatever length the client announced: a promise of a large body reserves nothing, and a body in
 * one-byte pieces costs no more than its size.
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

  /** True when the end of a refused body is too far off for the answer to wait for it. */
  get isHopeless(): boolean {
    const expectedBytes = Math.max(this.#received, this.#announcedBytes)
    return this.#refusal !== undefined && expectedBytes > this.#limits.discardedBytesMax
  }

  /** Gives up on the body: nothing of it is kept, what still comes is only counted. */
  refuse(answer: Answer): void {
    this.#refusal = answer
    this.release()
  }

  /** Copies the piece: its memory is the socket's. */
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

  /** Must be called once the body is done with, however it ended. Harmless when called twice. */
  release(): void {
    if (this.#buffer === undefined) return
    this.#budget.give(this.#buffer.byteLength)
    this.#buffer = undefined
    this.#length = 0
  }

  #withRoomFor(bytes: number): Buffer | undefined {
    const needed = this.#length + bytes
    const current = this.#buffer
    if (current !== undefined && needed <= current.byteLength) return current
    let capacity = current?.byteLength ?? firstCapacityBytes
    while (capacity < needed) capacity *= 2
    if (!this.#budget.take(capacity)) return undefined
    const grown = Buffer.allocUnsafeSlow(capacity)
    if (current !== undefined) {
      grown.set(current.subarray(0, this.#length))
      this.#budget.give(current.byteLength)
    }
    this.#buffer = grown
    return grown
  }
}

const empty = Buffer.alloc(0)
