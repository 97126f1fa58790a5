/**
 * What goes wrong with a request: before it has had its effect, or after. An error is what the idempotency key remembers,
 * as Stripe's own does; after a reset and a hang it remembers the answer that nobody got.
 */
export type Fault = {
  readonly kind:
    | 'error_before'
    | 'error_after'
    | 'reset_before'
    | 'reset_after'
    | 'hang_before'
    | 'hang_after'
    /** Answered 429 before anything was looked at. */
    | 'rate_limit'
    /** Works on the request for `delayMs`, with its key in use. */
    | 'slow'
  readonly method?: string | undefined
  /** As the operation's path reads in the API: `/v1/payment_intents/:id/confirm`. */
  readonly path?: string | undefined
  readonly times: number
  readonly delayMs?: number | undefined
}

/** The faults that are to come, each for so many requests that fit it. */
export class Faults {
  #armed: Fault[] = []

  arm(fault: Fault): void {
    this.#armed.push(fault)
  }

  clear(): void {
    this.#armed = []
  }

  list(): readonly Fault[] {
    return this.#armed
  }

  take(method: string, path: string): Fault | undefined {
    const index = this.#armed.findIndex(
      (fault) =>
        (fault.method === undefined || fault.method === method) &&
        (fault.path === undefined || fault.path === path),
    )
    const fault = this.#armed[index]
    if (fault === undefined) return undefined
    if (fault.times > 1) this.#armed[index] = { ...fault, times: fault.times - 1 }
    else this.#armed.splice(index, 1)
    return fault
  }
}
