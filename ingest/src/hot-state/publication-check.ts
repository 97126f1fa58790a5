import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { PublishedKind } from '@tollgate/schemas/hot-state/publications'
import { readPublishedSince } from '@tollgate/domain/publications/published-since'

type State = Pick<HotState, 'readDocument' | 'incarnation'>

/** The hot state lost what was published, and it is not all there again. */
export class NotPublishedError extends Error {
  override readonly name = 'NotPublishedError'
}

/**
 * Tells documents that do not exist from documents that a hot state has lost and that are not published again yet.
 *
 * One look after the document was missed would not do: everything may have been lost before the document was read, and
 * be published again before the look. So nothing is believed to be missing before a look of *before* the read and one
 * of after it have seen the same start: what is lost in between takes the start along for good.
 */
export class PublicationCheck {
  readonly #hotState: State
  readonly #kind: PublishedKind
  #seenStart: string | undefined
  #looking: Promise<string> | undefined
  #nextLook: Promise<string> | undefined

  constructor(hotState: State, kind: PublishedKind) {
    this.#hotState = hotState
    this.#kind = kind
  }

  /** What `read` finds; undefined only when there is no such document. Throws NotPublishedError. */
  async find<Value>(read: () => Promise<Value | undefined>): Promise<Value | undefined> {
    for (;;) {
      const seenBefore = this.#seenStart
      const value = await read()
      if (value !== undefined) return value
      const start = await this.#lookAfter()
      if (start === seenBefore) return undefined
    }
  }

  /** A look that begins after the call. Those who call meanwhile share the next one: one is under way at a time. */
  #lookAfter(): Promise<string> {
    if (this.#looking === undefined) return this.#begin()
    this.#nextLook ??= this.#looking.then(
      () => this.#begin(),
      () => this.#begin(),
    )
    return this.#nextLook
  }

  #begin(): Promise<string> {
    this.#nextLook = undefined
    const look = this.#look().finally(() => {
      if (this.#looking === look) this.#looking = undefined
    })
    this.#looking = look
    return look
  }

  /** The start since which everything of the kind has been published. */
  async #look(): Promise<string> {
    const { progress } = await readPublishedSince(this.#hotState)
    if (progress === undefined || !progress.published.includes(this.#kind)) {
      this.#seenStart = undefined
      throw new NotPublishedError(`Not every ${this.#kind} is published yet`)
    }
    this.#seenStart = progress.id
    return progress.id
  }
}
