/** As long as nothing is sent to an endpoint: it may be gone, and what is known of the others is told with each claim. */
const forgottenAfterMs = 86_400_000

/**
 * How much is sent to each endpoint at a time. One that does not answer in time gets one, until it does, or nothing was sent
 * to it for a day.
 */
export class Lanes {
  readonly #lanes = new Map<string, Lane>()
  readonly #perEndpointMax: number

  constructor(perEndpointMax: number) {
    this.#perEndpointMax = perEndpointMax
  }

  enter(endpointRef: string): void {
    const lane = this.#lanes.get(endpointRef) ?? {
      underWay: 0,
      max: this.#perEndpointMax,
      leftAt: 0,
    }
    this.#lanes.set(endpointRef, { ...lane, underWay: lane.underWay + 1 })
  }

  /** Each attempt that is answered in time lets one more be sent beside it, up to what an endpoint may have. */
  leave(endpointRef: string, hasTimedOut: boolean, now: Date): void {
    const lane = this.#lanes.get(endpointRef)
    if (lane === undefined) return
    const max = hasTimedOut ? 1 : Math.min(lane.max + 1, this.#perEndpointMax)
    const underWay = lane.underWay - 1
    if (underWay === 0 && max === this.#perEndpointMax) this.#lanes.delete(endpointRef)
    else this.#lanes.set(endpointRef, { underWay, max, leftAt: now.getTime() })
  }

  /** How much more may be sent to each endpoint that may not have all; none where it has enough. */
  room(now: Date): Readonly<Record<string, number>> {
    this.#forget(now.getTime() - forgottenAfterMs)
    const rooms = [...this.#lanes].map(
      ([endpointRef, { underWay, max }]) => [endpointRef, Math.max(0, max - underWay)] as const,
    )
    return Object.fromEntries(rooms)
  }

  #forget(leftBefore: number): void {
    for (const [endpointRef, { underWay, leftAt }] of this.#lanes) {
      if (underWay === 0 && leftAt < leftBefore) this.#lanes.delete(endpointRef)
    }
  }
}

type Lane = { readonly underWay: number; readonly max: number; readonly leftAt: number }
