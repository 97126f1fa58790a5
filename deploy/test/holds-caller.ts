import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { TollgateClient } from '../src/client/tollgate-client.ts'
import { createCustomer } from './offers.ts'
import type { StackUnderTest } from './stack-under-test.ts'

export type Named = { readonly customerRef: string; readonly productRef: string }

/** The answer to a limit check, with a hold if it asked for one. */
export type Hold = Readonly<Record<string, unknown>> & {
  readonly withinLimits: boolean
  readonly creditBalance?: number
  readonly reservation?: {
    readonly id: string
    readonly units: number
    readonly credits?: number
    readonly expiresAt: string
  }
}

export type HeldBatch = {
  readonly held: number
  readonly results: readonly { readonly status: string; readonly limits?: Hold }[]
}

export type Debit = {
  readonly credits?: string
  readonly amount?: number
  readonly shortfall?: string
}

/** A provider with the meters `tokens` and `images`, and calls that are repeated while counters lag on a busy machine. */
export class HoldsCaller {
  readonly client: TollgateClient

  private constructor(client: TollgateClient) {
    this.client = client
  }

  static async open({ stack }: StackUnderTest): Promise<HoldsCaller> {
    const client = (await stack.createProvider()).sandbox
    for (const name of ['tokens', 'images']) {
      await client.require('POST', '/v1/ui/meters', { name, aggregation: 'sum' })
    }
    return new HoldsCaller(client)
  }

  /** Creates a customer with the only plan of a product that a wallet pays for. */
  async createPayer(plan: object, credits: number): Promise<Named> {
    const { reference: productRef } = await this.client.createProduct({ name: randomUUID() })
    const shared = { name: 'Plan', default: true, type: 'usage-based' }
    await this.client.createPlan(productRef, { ...shared, ...plan })
    const customerRef = await createCustomer(this.client)
    const [offered] = await this.client.listPlans(productRef)
    const named = { customerRef, productRef }
    await this.send('/v1/sdk/activate', { ...named, planRef: offered!.reference })
    await this.send(`/v1/sdk/customers/${customerRef}/credits`, { credits })
    return named
  }

  async post(path: string, body: unknown, client = this.client) {
    for (;;) {
      const answer = await client.send('POST', path, body)
      if (answer.status !== 503) return answer
      await sleep(50)
    }
  }

  async send<Body>(path: string, body: unknown): Promise<Body> {
    const answer = await this.post(path, body)
    expect([answer.status, answer.body]).toEqual([200, answer.body])
    return answer.body as Body
  }

  check(named: Named, more: object = {}): Promise<Hold> {
    return this.send('/v1/sdk/limits', { ...named, ...more })
  }

  hold(named: Named, reserve: object, more: object = {}): Promise<Hold> {
    const request = { idempotencyKey: randomUUID(), reserve: { ttlSeconds: 60, ...reserve } }
    return this.check(named, { ...request, ...more })
  }

  batch(named: Named, estimates: readonly object[], allOrNothing: boolean): Promise<HeldBatch> {
    const reservations = estimates.map((estimate) => ({
      reserve: { estimate, ttlSeconds: 60 },
      idempotencyKey: randomUUID(),
    }))
    return this.send('/v1/sdk/limits/reservations', { ...named, reservations, allOrNothing })
  }

  async balance(named: Named): Promise<number | undefined> {
    return (await this.check(named)).creditBalance
  }

  async release(reservationId: string): Promise<boolean> {
    const body = { reservationId }
    return (await this.send<{ released: boolean }>('/v1/sdk/limits/release', body)).released
  }

  async extend(reservationId: string): Promise<number> {
    return (await this.post('/v1/sdk/limits/extend', { reservationId, ttlSeconds: 120 })).status
  }

  /** Records usage. Returns what it debited in hundredths of a credit; meter events do not tell. */
  async use(named: Named, meterName: string, units: number, more: object): Promise<number> {
    if (meterName !== 'requests') {
      await this.send('/v1/sdk/meter-events', { ...named, meterName, value: units, ...more })
      return 0
    }
    const { creditDebit } = await this.send<{ creditDebit: Debit }>('/v1/sdk/usages', {
      ...{ ...named, units, ...more },
    })
    return Math.round(Number(creditDebit.credits) * 100)
  }

  /** Resolves when everything recorded is counted: a hold of a limited meter waits for that, whether or not it is refused. */
  async settled(named: Named): Promise<void> {
    const { reservation } = await this.hold(named, { estimate: { tokens: 0.000001 } })
    if (reservation !== undefined) await this.release(reservation.id)
  }
}
