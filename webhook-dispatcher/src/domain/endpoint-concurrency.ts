/**
 * After this time without an attempt, an endpoint is forgotten. It may be deleted, and each claim sends all known limits to the
 * database.
 */
const idleForgottenAfterMs = 86_400_000

/**
 * Limits how many deliveries are sent concurrently to each endpoint. After a timeout an endpoint gets one at a time, until it
 * responds again or nothing was sent to it for a day.
 */
export class EndpointConcurrency {
  readonly #concurrency = new Map<string, Entry>()
  readonly #perEndpointMax: number

  constructor(perEndpointMax: number) {
    this.#perEndpointMax = perEndpointMax
  }

  enter(endpointRef: string): void {
    const entry = this.#concurrency.get(endpointRef) ?? {
      inFlight: 0,
      max: this.#perEndpointMax,
      leftAt: 0,
    }
    this.#concurrency.set(endpointRef, { ...entry, inFlight: entry.inFlight + 1 })
  }

  /** Each attempt without a timeout raises the limit of the endpoint by one, up to the maximum per endpoint. */
  leave(endpointRef: string, hasTimedOut: boolean, now: Date): void {
    const entry = this.#concurrency.get(endpointRef)
    if (entry === undefined) return
    const max = hasTimedOut ? 1 : Math.min(entry.max + 1, this.#perEndpointMax)
    const inFlight = entry.inFlight - 1
    if (inFlight === 0 && max === this.#perEndpointMax) this.#concurrency.delete(endpointRef)
    else this.#concurrency.set(endpointRef, { inFlight, max, leftAt: now.getTime() })
  }

  /** Returns how many more deliveries may be sent now, for each endpoint that has less than the full limit available. */
  room(now: Date): Readonly<Record<string, number>> {
    this.#forget(now.getTime() - idleForgottenAfterMs)
    const rooms = [...this.#concurrency].map(
      ([endpointRef, { inFlight, max }]) => [endpointRef, Math.max(0, max - inFlight)] as const,
    )
    return Object.fromEntries(rooms)
  }

  #forget(leftBefore: number): void {
    for (const [endpointRef, { inFlight, leftAt }] of this.#concurrency) {
      if (inFlight === 0 && leftAt < leftBefore) this.#concurrency.delete(endpointRef)
    }
  }
}

type Entry = { readonly inFlight: number; readonly max: number; readonly leftAt: number }
