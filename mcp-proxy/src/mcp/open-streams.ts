import { change } from './open-requests.ts'

type Stream = {
  readonly controller: AbortController
  readonly caller: string
  /** Until the origin has answered; resolves then, or when the stream has ended. */
  opening: Promise<void> | undefined
  readonly setOpened: () => void
}

/** Streams of notifications that clients have open, by session. */
export class OpenStreams {
  readonly #perCustomerMax: number
  readonly #streams = new Map<string, Stream>()
  readonly #perCustomer = new Map<string, number>()

  constructor(perCustomerMax: number) {
    this.#perCustomerMax = perCustomerMax
  }

  get size(): number {
    return this.#streams.size
  }

  /**
   * Returns undefined if the caller has too many. A session has one stream: a second one replaces the first, whose connection may
   * be dead without anybody knowing.
   */
  open(key: string, caller: string): AbortController | undefined {
    const replaced = this.#streams.get(key)
    if (replaced !== undefined) this.close(key, replaced.controller)
    if ((this.#perCustomer.get(caller) ?? 0) >= this.#perCustomerMax) return undefined
    const controller = new AbortController()
    let setOpened = (): void => undefined
    const opening = new Promise<void>((resolve) => (setOpened = resolve))
    this.#streams.set(key, { controller, caller, opening, setOpened })
    change(this.#perCustomer, caller, 1)
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
    change(this.#perCustomer, found.caller, -1)
  }

  /** Ends them all, so that clients open them at another replica. */
  closeAll(): void {
    for (const { controller } of this.#streams.values()) controller.abort()
  }
}
