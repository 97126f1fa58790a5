import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { LimitsClient } from './limits-client.ts'
import { callKeyOf } from './call-key.ts'
import { LostUsageError } from './errors.ts'
import { gateOf, recoveryOf, type Gate, type Recovery } from './gate.ts'
import type { LimitsAnswer } from './limits-answer.ts'
import { readOptions, type PaywallOptions, type Settings } from './paywall-options.ts'
import { createTollgateApi } from './tollgate-api.ts'
import type { Outcome, UsageEvent } from './usage-event.ts'
import { UsageQueue } from './usage-queue.ts'

export type { Gate, Recovery } from './gate.ts'
export type { Balance, PlanOffer, ProductDetails } from './limits-answer.ts'
export type { PaywallOptions } from './paywall-options.ts'
export type { Outcome, UsageEvent } from './usage-event.ts'
export { AwayError, LostUsageError, RefusedError } from './errors.ts'

/** One call that a customer makes. */
export type Call = {
  /** Tollgate's reference of the customer, or your own id of it. */
  readonly customerRef: string
  /** Stored with the usage record, for analytics. */
  readonly metadata?: Readonly<Record<string, string>>
  /** The idempotency key that the client sent. Calls with the same key and the same parts count once. */
  readonly clientKey?: { readonly key: string; readonly of: readonly string[] } | undefined
  /**
   * Whether a refusal may contain a link to Tollgate's checkout. Anyone with that link acts for the customer, so omit it if other
   * people than the customer may read the response.
   */
  readonly includesCheckoutLink?: boolean
}

export type Admission =
  | { readonly kind: 'admitted'; readonly call: AdmittedCall }
  /** The plan does not allow the call. The refusal is recorded as usage with the outcome `paywall`. */
  | { readonly kind: 'paywalled'; readonly gate: Gate; readonly recovery: Recovery }
  /** Tollgate does not know the customer. */
  | { readonly kind: 'unknown_customer' }
  /** Tollgate is unavailable, and calls are refused meanwhile. */
  | { readonly kind: 'unavailable' }

export type AdmittedCall = {
  /**
   * Records how the call ended. Only the first outcome counts. After `fail` the units are released: wait for the promise before you
   * respond, so that a client that retries finds them available. Never rejects.
   */
  end(outcome: 'success' | 'fail'): Promise<void>
  /** Releases the units and records nothing, for a call that continues later as a separate call. Never rejects. */
  interrupt(): Promise<void>
}

/** Checks limits before each call and records usage afterwards. The adapters for frameworks use it. */
export type Paywall = {
  /** Checks whether the call is allowed, and holds its units. Never rejects. */
  begin(call: Call): Promise<Admission>
  /** Resolves when all usage records up to now are delivered. */
  flush(): Promise<void>
  /**
   * Refuses new calls, waits for those in progress and delivers their records, for `timeoutMs` at most (default: 10,000).
   * Rejects with a LostUsageError that holds the records that were not delivered.
   */
  close(options?: { readonly timeoutMs?: number }): Promise<void>
}

/** Throws a TypeError that names the option that is missing or out of range. */
export function createPaywall(options: PaywallOptions): Paywall {
  return new TollgatePaywall(readOptions(options))
}

class TollgatePaywall implements Paywall {
  readonly #settings: Settings
  readonly #api
  readonly #limits
  readonly #queue
  #open = 0
  #isClosed = false

  constructor(settings: Settings) {
    this.#settings = settings
    const { baseUrl, secretKey, queueMax, onError } = settings
    this.#api = createTollgateApi(baseUrl, secretKey)
    this.#limits = new LimitsClient(this.#api, settings)
    this.#queue = new UsageQueue(this.#api, {
      eventsMax: queueMax,
      batchMax: 500,
      timeoutMs: 10_000,
      onError,
      onUnusedHold: (reservationId) => void this.#release(reservationId),
    })
  }

  async begin(call: Call): Promise<Admission> {
    const startedAt = performance.now()
    if (this.#isClosed || (this.#isFull() && this.#settings.onUnavailable === 'refuse')) {
      return { kind: 'unavailable' }
    }
    // An open call reserves a place in the queue for its record.
    this.#open += 1
    const admission = await this.#admit(call, startedAt)
    if (admission.kind !== 'admitted') this.#open -= 1
    return admission
  }

  async #admit(call: Call, startedAt: number): Promise<Admission> {
    const key = this.#keyOf(call)
    const reply = await this.#limits.checkLimits({ customerRef: call.customerRef, key })
    switch (reply.kind) {
      case 'unknown_customer':
        return reply
      case 'unavailable':
        // A wrong key or product never admits calls, even with `onUnavailable: 'allow'`.
        return reply.isMisconfigured || this.#settings.onUnavailable === 'refuse'
          ? { kind: 'unavailable' }
          : { kind: 'admitted', call: this.#admitted(call, startedAt, key, undefined) }
      case 'answer': {
        const ownUrl = reply.answer.withinLimits ? undefined : await this.#ownUrl(call.customerRef)
        const answer = await this.#withPage(call, key, reply.answer, ownUrl)
        if (!answer.withinLimits) return this.#refuse(call, startedAt, answer, ownUrl)
        const reservationId = answer.reservation?.id
        return { kind: 'admitted', call: this.#admitted(call, startedAt, key, reservationId) }
      }
    }
  }

  async #withPage(
    { customerRef, includesCheckoutLink }: Call,
    key: string,
    answer: LimitsAnswer,
    ownUrl: string | undefined,
  ): Promise<LimitsAnswer> {
    if (answer.withinLimits || !includesCheckoutLink || ownUrl !== undefined) return answer
    return await this.#limits.requestCheckoutPage({ customerRef, key }, answer)
  }

  #refuse(
    call: Call,
    startedAt: number,
    answer: LimitsAnswer,
    ownUrl: string | undefined,
  ): Admission {
    this.#record(call, startedAt, 'paywall', randomUUID())
    const gate = gateOf(this.#settings.productRef, answer, ownUrl)
    return { kind: 'paywalled', gate, recovery: recoveryOf(answer) }
  }

  async #ownUrl(customerRef: string): Promise<string | undefined> {
    try {
      return await this.#settings.checkoutUrl?.(customerRef)
    } catch (error) {
      this.#settings.onError(error as Error)
      return ''
    }
  }

  #admitted(
    call: Call,
    startedAt: number,
    key: string,
    reservationId: string | undefined,
  ): AdmittedCall {
    let isEnded = false
    const endOnce = async (outcome: 'success' | 'fail' | undefined): Promise<void> => {
      if (isEnded) return
      isEnded = true
      this.#open -= 1
      if (outcome === 'success') {
        this.#record(call, startedAt, outcome, key, reservationId)
        return
      }
      // A failure gets a random key, so that a successful retry with the client's key is still counted.
      if (outcome === 'fail') this.#record(call, startedAt, outcome, randomUUID())
      if (reservationId !== undefined) await this.#release(reservationId)
    }
    return { end: endOnce, interrupt: () => endOnce(undefined) }
  }

  #keyOf({ customerRef, clientKey }: Call): string {
    if (clientKey === undefined || !this.#settings.honorsClientKeys) return randomUUID()
    return callKeyOf(customerRef, this.#settings.productRef, clientKey.key, ...clientKey.of)
  }

  #isFull(): boolean {
    return this.#queue.size + this.#open >= this.#settings.queueMax
  }

  #record(
    { customerRef, metadata }: Call,
    startedAt: number,
    outcome: Outcome,
    idempotencyKey: string,
    reservationId?: string,
  ): void {
    const { productRef, units } = this.#settings
    const event: UsageEvent = {
      customerRef,
      productRef,
      actionType: 'api_call',
      units,
      outcome,
      duration: Math.round(performance.now() - startedAt),
      metadata: { action: 'requests', ...metadata },
      timestamp: new Date().toISOString(),
      idempotencyKey,
      ...(reservationId !== undefined && { reservationId }),
    }
    this.#queue.add(event)
  }

  /** If the request fails, the hold expires by itself. */
  async #release(reservationId: string): Promise<void> {
    const { timeoutMs, onError } = this.#settings
    const given = { reservationId }
    await this.#api.post('/v1/sdk/limits/release', given, timeoutMs).catch(onError)
  }

  flush(): Promise<void> {
    return this.#queue.flush()
  }

  async close({ timeoutMs = 10_000 }: { readonly timeoutMs?: number } = {}): Promise<void> {
    this.#isClosed = true
    const deadline = performance.now() + timeoutMs
    while ((this.#open > 0 || this.#queue.size > 0) && performance.now() < deadline) {
      const leftMs = Math.max(0, deadline - performance.now())
      await sleep(Math.min(10, leftMs))
    }
    const lost = this.#queue.abandon()
    if (lost.length > 0) {
      throw new LostUsageError(`${lost.length} usage records were not delivered.`, lost)
    }
  }
}
