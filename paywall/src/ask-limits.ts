import { setTimeout as sleep } from 'node:timers/promises'
import { AwayError, RefusedError } from './errors.ts'
import type { LimitsAnswer } from './limits-answer.ts'
import type { Settings } from './paywall-options.ts'
import type { TollgateApi } from './tollgate-api.ts'

export type LimitsQuestion = {
  readonly customerRef: string
  /** Names the hold: whoever asks again with it is told of the first one. */
  readonly key: string
}

export type LimitsReply =
  | { readonly kind: 'answer'; readonly answer: LimitsAnswer }
  | { readonly kind: 'unknown_customer' }
  /** `isSetup`: Tollgate answered, and this program asks in a wrong way. */
  | { readonly kind: 'unavailable'; readonly isSetup: boolean }

/** After a request without any answer, calls are not kept waiting for the next one for so long. */
const restMs = 1_000

/** Asks whether a call may go ahead. */
export class LimitsClient {
  readonly #api: TollgateApi
  readonly #settings: Settings
  #restsUntil = 0

  constructor(api: TollgateApi, settings: Settings) {
    this.#api = api
    this.#settings = settings
  }

  /** With a hold, unless the settings want a check alone. Never rejects. */
  async ask({ customerRef, key }: LimitsQuestion): Promise<LimitsReply> {
    if (performance.now() < this.#restsUntil) return { kind: 'unavailable', isSetup: false }
    try {
      return { kind: 'answer', answer: await this.#insist(this.#wordsOf({ customerRef, key })) }
    } catch (error) {
      return this.#explain(error)
    }
  }

  /**
   * Asks once more after a refusal, for a page to pay on. With the same hold: units that others hold count as used there too. So
   * this may also admit the call, if units have become free. Returns the refusal if Tollgate cannot answer now.
   */
  async askForPage(question: LimitsQuestion, refusal: LimitsAnswer): Promise<LimitsAnswer> {
    const { timeoutMs, onError } = this.#settings
    const words = { ...this.#wordsOf(question), includeCheckoutSession: true }
    try {
      return (await this.#api.post(path, words, timeoutMs)) as LimitsAnswer
    } catch (error) {
      onError(error as Error)
      return refusal
    }
  }

  #wordsOf({ customerRef, key }: LimitsQuestion): object {
    const { productRef, admission, units, holdSeconds } = this.#settings
    const reserve = admission === 'hold' && units > 0 && { units, ttlSeconds: holdSeconds }
    return { customerRef, productRef, ...(reserve && { reserve, idempotencyKey: key }) }
  }

  /** Asks again while Tollgate answers that it cannot decide yet, as long as the call may wait. */
  async #insist(question: object): Promise<LimitsAnswer> {
    const deadline = performance.now() + this.#settings.timeoutMs
    for (let attempt = 0; ; attempt += 1) {
      try {
        const leftMs = deadline - performance.now()
        return (await this.#api.post(path, question, leftMs)) as LimitsAnswer
      } catch (error) {
        if (!(error instanceof AwayError)) throw error
        const pauseMs = 25 * 2 ** attempt
        // One more attempt for a connection that was closed while it lay idle.
        const mayRepeat = error.isAnswered || attempt === 0
        if (!mayRepeat || performance.now() + pauseMs >= deadline) {
          if (!error.isAnswered) this.#restsUntil = performance.now() + restMs
          throw error
        }
        await sleep(pauseMs)
      }
    }
  }

  #explain(error: unknown): LimitsReply {
    this.#settings.onError(error as Error)
    const isSetup = error instanceof RefusedError
    if (isSetup && error.code === 'customer_not_found') return { kind: 'unknown_customer' }
    return { kind: 'unavailable', isSetup }
  }
}

const path = '/v1/sdk/limits'
