import { change } from './open-requests.ts'

type Stream = { readonly controller: AbortController; readonly caller: string }

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
    this.#streams.set(key, { controller, caller })
    change(this.#perCustomer, caller, 1)
    return controller
  }

  close(key: string, controller: AbortController): void {
    controller.abort()
    const found = this.#streams.get(key)
    if (found?.controller !== controller) return
    this.#streams.delete(key)
    change(this.#perCustomer, found.caller, -1)
  }

  /** Ends them all, so that clients open them at another replica. */
  closeAll(): void {
    for (const { controller } of this.#streams.values()) controller.abort()
  }
}
