import { requestWithRetries } from '../../src/client/request-with-retries.ts'
import type { TollgateClient } from '../../src/client/tollgate-client.ts'
import { eventType, meters, type Market, type MarketMeters } from './hold-market.ts'
import type { Amounts } from './hold-ledger.ts'

export type HeldAnswer = {
  readonly withinLimits: boolean
  readonly creditBalance?: number
  readonly blockedBy?: { readonly reason: string; readonly limit?: string }
  readonly limits?: readonly { readonly limit: string; readonly used?: number }[]
  readonly reservation?: { readonly id: string; readonly expiresAt: string }
}

export type BatchAnswer = {
  readonly results: readonly { readonly status: string; readonly limits?: HeldAnswer }[]
}

export type UsedAnswer = {
  readonly creditDebit?: {
    readonly debited: boolean
    readonly credits?: string
    readonly shortfall?: string
  }
}

/** An answer, and whether it is the answer to the first attempt. */
export type Answered<Body> = { readonly body: Body; readonly isFirst: boolean }

/** Sends what one customer's callers send, repeatedly until it is answered. */
export class HoldRequests {
  readonly #client: TollgateClient
  readonly #impatient: TollgateClient
  readonly #meters: MarketMeters
  readonly #market: Market

  /** `impatient` abandons requests before most of them are answered. */
  constructor(
    clients: { readonly client: TollgateClient; readonly impatient: TollgateClient },
    marketMeters: MarketMeters,
    market: Market,
  ) {
    this.#client = clients.client
    this.#impatient = clients.impatient
    this.#meters = marketMeters
    this.#market = market
  }

  check(): Promise<HeldAnswer> {
    return this.#send<HeldAnswer>('/v1/sdk/limits', { ...this.#named, includeLimits: true }).then(
      ({ body }) => body,
    )
  }

  hold(amounts: Amounts, ttlSeconds: number, key: string): Promise<Answered<HeldAnswer>> {
    return this.#send('/v1/sdk/limits', this.#holdBody(amounts, ttlSeconds, key))
  }

  /** Sends a request for a hold, and does not wait for the answer. */
  async lose(amounts: Amounts, ttlSeconds: number, key: string): Promise<void> {
    const body = this.#holdBody(amounts, ttlSeconds, key)
    await this.#impatient.send('POST', '/v1/sdk/limits', body).catch(() => undefined)
  }

  batch(
    each: readonly { readonly amounts: Amounts; readonly key: string }[],
    ttlSeconds: number,
    allOrNothing: boolean,
  ): Promise<Answered<BatchAnswer>> {
    const reservations = each.map(({ amounts, key }) => ({
      ...{ reserve: this.#reserve(amounts, ttlSeconds), idempotencyKey: key },
    }))
    const body = { ...this.#named, reservations, allOrNothing }
    return this.#send('/v1/sdk/limits/reservations', body)
  }

  use(
    amounts: Amounts,
    reservationId: string,
    isFinal: boolean,
    key: string,
  ): Promise<Answered<UsedAnswer>> {
    return this.#send('/v1/events', {
      ...{ specversion: '1.0', id: key, source: 'holds', type: eventType },
      ...{ subject: this.#market.usedAs, productref: this.#market.productRef },
      ...{ reservationid: reservationId, reservationfinal: isFinal },
      data: Object.fromEntries(meters.map((meter) => [meter, amounts[meter] ?? 0])),
    })
  }

  /** Returns the new expiry in Unix milliseconds, or undefined if nothing is held any more. */
  async extend(reservationId: string, ttlSeconds: number): Promise<number | undefined> {
    const request = { reservationId, ttlSeconds }
    const { status, body } = await this.#sendRaw('/v1/sdk/limits/extend', request)
    if (status === 409) return undefined
    if (status !== 200) throw new Error(`An extension got ${status} ${JSON.stringify(body)}`)
    return Date.parse((body as { expiresAt: string }).expiresAt)
  }

  release(reservationId: string): Promise<Answered<{ readonly released: boolean }>> {
    return this.#send('/v1/sdk/limits/release', { reservationId })
  }

  /** Returns the units of each meter in ClickHouse. */
  async stored(): Promise<Amounts> {
    const now = Date.now()
    const range = {
      from: new Date(now - 86_400_000).toISOString(),
      to: new Date(now + 86_400_000).toISOString(),
      customerRef: this.#market.usedAs,
    }
    const entries = meters.map(async (meter) => {
      const reference = this.#meters.references[meter]
      const { total } = await requestWithRetries(() => this.#client.meterUsage(reference, range))
      return [meter, total] as const
    })
    return Object.fromEntries(await Promise.all(entries))
  }

  get #named() {
    const { customerRef, productRef } = this.#market
    return { customerRef, productRef }
  }

  #holdBody(amounts: Amounts, ttlSeconds: number, idempotencyKey: string): object {
    return { ...this.#named, reserve: this.#reserve(amounts, ttlSeconds), idempotencyKey }
  }

  /** Holds units of meters, or only credits. */
  #reserve(amounts: Amounts, ttlSeconds: number): object {
    const held = meters.filter((meter) => (amounts[meter] ?? 0) > 0)
    if (held.length === 0) return { credits: amounts['credits']! / 1_000_000, ttlSeconds }
    const units = held.map((meter) => [this.#meters.names[meter], amounts[meter]])
    return { estimate: Object.fromEntries(units) as object, ttlSeconds }
  }

  async #send<Body>(path: string, body: object): Promise<Answered<Body>> {
    let isFirst = true
    const answer = await requestWithRetries(
      () => this.#client.require('POST', path, body),
      undefined,
      () => {
        isFirst = false
      },
    )
    return { body: answer as Body, isFirst }
  }

  async #sendRaw(path: string, body: object): Promise<{ status: number; body: unknown }> {
    return await requestWithRetries(async () => {
      const answer = await this.#client.send('POST', path, body)
      if (answer.status >= 502) throw new Error(`It got ${answer.status}`)
      return answer
    })
  }
}
