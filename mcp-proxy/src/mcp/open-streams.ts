import type { ServedServer } from '../servers/served-server.ts'
import { OpenRequests, type Bound, type OpenRequestLimits, type Place } from './open-requests.ts'

type Stream = {
  readonly controller: AbortController
  readonly place: Place
  /** Resolves when the origin has answered or the stream has ended. Undefined after that. */
  opening: Promise<void> | undefined
  readonly setOpened: () => void
}

/** Streams of notifications that clients have open, by session. */
export class OpenStreams {
  readonly #streams = new Map<string, Stream>()
  readonly #places: OpenRequests
  #isClosing = false

  constructor(limits: OpenRequestLimits) {
    this.#places = new OpenRequests(limits)
  }

  get size(): number {
    return this.#streams.size
  }

  /**
   * Opens a stream, or returns the limit that is exceeded. A session has one stream. A second one replaces the first, whose
   * connection may have broken without being noticed.
   */
  open(key: string, server: ServedServer, caller: string): AbortController | Bound {
    const replaced = this.#streams.get(key)
    if (replaced !== undefined) this.close(key, replaced.controller)
    const place = this.#places.enter(server, caller)
    if (typeof place === 'string') return place
    const controller = new AbortController()
    if (this.#isClosing) controller.abort()
    let setOpened = (): void => undefined
    const opening = new Promise<void>((resolve) => (setOpened = resolve))
    this.#streams.set(key, { controller, place, opening, setOpened })
    return controller
  }

  /** Notes that the origin has answered, with a stream or without one. */
  setOpened(key: string, controller: AbortController): void {
    const found = this.#streams.get(key)
    if (found?.controller !== controller) return
    found.setOpened()
    found.opening = undefined
  }

  /**
   * Returns a promise that resolves when the origin has answered the request for the session's stream, or undefined if none is
   * pending. Clients open the stream and call a tool immediately afterwards. An origin that asks something on the stream must have
   * the stream before the call.
   */
  opening(key: string): Promise<void> | undefined {
    return this.#streams.get(key)?.opening
  }

  close(key: string, controller: AbortController): void {
    controller.abort()
    const found = this.#streams.get(key)
    if (found?.controller !== controller) return
    found.setOpened()
    this.#streams.delete(key)
    found.place.leave()
  }

  /** Ends all streams, so that clients open them at another replica. */
  closeAll(): void {
    this.#isClosing = true
    for (const { controller } of this.#streams.values()) controller.abort()
  }
}
