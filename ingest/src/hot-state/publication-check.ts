import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { PublishedKind } from '@tollgate/schemas/hot-state/publications'
import { readPublishedSince } from '@tollgate/domain/publications/published-since'

type State = Pick<HotState, 'readDocument' | 'incarnation'>

/** The hot state lost its published documents, and not all of them have been published again. */
export class NotPublishedError extends Error {
  override readonly name = 'NotPublishedError'
}

/**
 * Distinguishes documents that do not exist from documents that the hot state has lost and that are not published again yet.
 *
 * One check after the read is not enough: everything may be lost before the read and published again before the check. A document
 * is therefore reported as missing only if a check *before* the read and one after it found the same start of the hot state. A loss
 * in between replaces that start permanently.
 */
export class PublicationCheck {
  readonly #hotState: State
  readonly #kind: PublishedKind
  #lastStart: string | undefined
  #runningCheck: Promise<string> | undefined
  #nextCheck: Promise<string> | undefined

  constructor(hotState: State, kind: PublishedKind) {
    this.#hotState = hotState
    this.#kind = kind
  }

  /** Returns the document that `read` finds, or undefined if it does not exist. Throws NotPublishedError. */
  async find<Value>(read: () => Promise<Value | undefined>): Promise<Value | undefined> {
    for (;;) {
      const startBefore = this.#lastStart
      const value = await read()
      if (value !== undefined) return value
      const start = await this.#checkAfterCall()
      if (start === startBefore) return undefined
    }
  }

  /** Starts a check after the call. One check runs at a time, so callers during a check share the next one. */
  #checkAfterCall(): Promise<string> {
    if (this.#runningCheck === undefined) return this.#beginCheck()
    this.#nextCheck ??= this.#runningCheck.then(
      () => this.#beginCheck(),
      () => this.#beginCheck(),
    )
    return this.#nextCheck
  }

  #beginCheck(): Promise<string> {
    this.#nextCheck = undefined
    const check = this.#readStart().finally(() => {
      if (this.#runningCheck === check) this.#runningCheck = undefined
    })
    this.#runningCheck = check
    return check
  }

  /** Returns the start of the hot state since which all documents of the kind have been published. */
  async #readStart(): Promise<string> {
    const { progress } = await readPublishedSince(this.#hotState)
    if (progress === undefined || !progress.published.includes(this.#kind)) {
      this.#lastStart = undefined
      throw new NotPublishedError(`Not every ${this.#kind} is published yet`)
    }
    this.#lastStart = progress.id
    return progress.id
  }
}
