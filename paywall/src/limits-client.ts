import { setTimeout as sleep } from 'node:timers/promises'
import { AwayError, RefusedError } from './errors.ts'
import type { LimitsAnswer } from './limits-answer.ts'
import type { Settings } from './paywall-options.ts'
import type { TollgateApi } from './tollgate-api.ts'

export type LimitsRequest = {
  readonly customerRef: string
  /** Key of the hold. A second request with the same key returns the first hold. */
  readonly key: string
}

export type LimitsReply =
  | { readonly kind: 'answer'; readonly answer: LimitsAnswer }
  | { readonly kind: 'unknown_customer' }
  /** `isMisconfigured`: Tollgate refused the request, because this program is configured wrongly. */
  | { readonly kind: 'unavailable'; readonly isMisconfigured: boolean }

/** After a request without any answer, calls do not wait for Tollgate for this long. */
const unavailablePauseMs = 1_000

/** Asks Tollgate whether a call is within the limits of the customer. */
export class LimitsClient {
  readonly #api: TollgateApi
  readonly #settings: Settings
  #unavailableUntil = 0

  constructor(api: TollgateApi, settings: Settings) {
    this.#api = api
    this.#settings = settings
  }

  /** Checks the limits, and holds the units unless the settings ask for a check only. Never rejects. */
  async checkLimits({ customerRef, key }: LimitsRequest): Promise<LimitsReply> {
    if (performance.now() < this.#unavailableUntil)
      return { kind: 'unavailable', isMisconfigured: false }
    try {
      return {
        kind: 'answer',
        answer: await this.#postWithRetry(this.#bodyOf({ customerRef, key })),
      }
    } catch (error) {
      return this.#replyToError(error)
    }
  }

  /**
   * Repeats the request after a refusal, to get a link to a checkout page. The request includes the same hold, because units held
   * by other calls count as used. It may therefore admit the call, if units were released in between. Returns the original refusal
   * if Tollgate cannot answer now.
   */
  async requestCheckoutPage(request: LimitsRequest, refusal: LimitsAnswer): Promise<LimitsAnswer> {
    const { timeoutMs, onError } = this.#settings
    const body = { ...this.#bodyOf(request), includeCheckoutSession: true }
    try {
      return (await this.#api.post(path, body, timeoutMs)) as LimitsAnswer
    } catch (error) {
      onError(error as Error)
      return refusal
    }
  }

  #bodyOf({ customerRef, key }: LimitsRequest): object {
    const { productRef, admission, units, holdSeconds } = this.#settings
    const reserve = admission === 'hold' && units > 0 && { units, ttlSeconds: holdSeconds }
    return { customerRef, productRef, ...(reserve && { reserve, idempotencyKey: key }) }
  }

  /** Repeats the request while Tollgate answers that it cannot decide yet, within the timeout of the call. */
  async #postWithRetry(request: object): Promise<LimitsAnswer> {
    const deadline = performance.now() + this.#settings.timeoutMs
    for (let attempt = 0; ; attempt += 1) {
      try {
        const leftMs = deadline - performance.now()
        return (await this.#api.post(path, request, leftMs)) as LimitsAnswer
      } catch (error) {
        if (!(error instanceof AwayError)) throw error
        const pauseMs = 25 * 2 ** attempt
        // One retry without an answer, for a keep-alive connection that the server has closed.
        const mayRepeat = error.isAnswered || attempt === 0
        if (!mayRepeat || performance.now() + pauseMs >= deadline) {
          if (!error.isAnswered) this.#unavailableUntil = performance.now() + unavailablePauseMs
          throw error
        }
        await sleep(pauseMs)
      }
    }
  }

  #replyToError(error: unknown): LimitsReply {
    this.#settings.onError(error as Error)
    const isMisconfigured = error instanceof RefusedError
    if (isMisconfigured && error.code === 'customer_not_found') return { kind: 'unknown_customer' }
    return { kind: 'unavailable', isMisconfigured }
  }
}

const path = '/v1/sdk/limits'
