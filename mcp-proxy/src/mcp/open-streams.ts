import type { ServedServer } from '../servers/served-server.ts'
import { OpenRequests, type Bound, type OpenRequestLimits, type Place } from './open-requests.ts'

type Stream = {
  readonly controller: AbortController
  readonly place: Place
  /** Until the origin has answered; resolves then, or when the stream has ended. */
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
   * Returns the limit that is met if too many are open. A session has one stream: a second one replaces the first, whose connection may
   * be dead without anybody knowing.
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

  /** The origin has answered: it has the stream, or has none. */
  setOpened(key: string, controller: AbortController): void {
    const found = this.#streams.get(key)
    if (found?.controller !== controller) return
    found.setOpened()
    found.opening = undefined
  }

  /**
   * Undefined if no stream of the session is on its way to the origin. Clients open the stream of a session and call a tool in the
   * next moment; an origin that asks something on the stream must have it before the call.
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

  /** Ends them all, so that clients open them at another replica. */
  closeAll(): void {
    this.#isClosing = true
    for (const { controller } of this.#streams.values()) controller.abort()
  }
}
