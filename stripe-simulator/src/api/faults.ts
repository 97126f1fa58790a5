/**
 * A fault of a request, before or after its effect. As in Stripe, an idempotency key remembers the injected error. After a reset or
 * a hang, it remembers the answer that the client did not receive.
 */
export type Fault = {
  readonly kind:
    | 'error_before'
    | 'error_after'
    | 'reset_before'
    | 'reset_after'
    | 'hang_before'
    | 'hang_after'
    /** Answered with 429 before the request is processed. */
    | 'rate_limit'
    /** Delays the request by `delayMs` while its idempotency key is in use. */
    | 'slow'
  readonly method?: string | undefined
  /** Path of the operation as in the API, for example `/v1/payment_intents/:id/confirm`. */
  readonly path?: string | undefined
  readonly times: number
  readonly delayMs?: number | undefined
}

/** The armed faults. Each applies to a number of matching requests. */
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
